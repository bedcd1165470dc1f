"""Votes from a file of others: read, held against the catalogue and the suspects, stored; imports listed and voided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from eds.benchmarks.benchmark import PAIR, Location
from eds.errors import InputError
from eds.io.reading import reading
from eds.labels import experts, lead_queries, transfer, vote_columns, vote_files
from eds.labels.validation import short
from eds.project.import_votes import with_file_rows
from eds.project.label_store import exists, opened
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

SHOWN = 5  # rows of one kind of fault
SWAPPED = 0.5  # share of rows that must fit when query and candidate change places, for a hint


@dataclass(frozen=True)
class ImportedVotes(Result):
    """How many votes a file added, and what the file was taken for."""

    added: int
    already: int  # stored before
    repeated: int  # say again what another row or the store says: counted once
    dropped: tuple[str, ...]  # columns that were not read
    number: int | None  # of the import, by which a lead can void it; None: no vote was new
    campaign: str
    new_campaign: bool
    pairs: int  # in the file
    suspects: int  # of them
    new_experts: tuple[str, ...]
    columns: dict[str, str] = field(default_factory=dict)  # ours -> the file's
    answers: dict[str, str] = field(default_factory=dict)  # as the file writes them -> similar, different, unsure
    delimiter: str | None = None  # of a CSV file
    header: bool = True


def import_votes(
    project: "Project",
    file: str | Path,
    campaign: str,
    *,
    columns: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
    new_experts: bool = False,
    new_pairs: bool = False,
    kind: str | None = None,
) -> ImportedVotes:
    """Take the votes of a file into a campaign; see `Labels.import_votes`."""
    path, columns = Path(file), columns or {}
    form = vote_files.format_of(path, kind)
    with reading(path):
        frame, mapping = vote_columns.rename(
            vote_files.read(path, form, columns.values()), columns, values or {}, str(file)
        )
        delimiter, header = vote_files.dialect(path, columns.values()) if form in ("csv", "crowdkit") else (None, True)
        pairs, people = frame[PAIR].drop_duplicates(), set(frame["expert_id"].dropna())
    suspects = project.read("suspects", columns=PAIR) if project.path("suspects").exists() else pairs.iloc[:0]
    known_experts, known_campaigns, asked = _stored(project, campaign)
    strangers = tuple(sorted(map(str, people - known_experts)))
    at = Location(path, "row", 1)
    foreign = _foreign_images(project, frame, at, mapping.used)
    unknown = _unknown_pairs(pairs, suspects, asked, new_pairs=new_pairs)
    swapped = [] if set(PAIR) <= columns.keys() else _swapped(project, frame, pairs, suspects, asked, mapping.used)
    people_unknown = [] if new_experts or not strangers else [_unknown_experts(strangers)]
    _refuse([*swapped, *foreign, *unknown, *people_unknown], str(file))
    with opened(project, create=True) as store:
        try:
            done = transfer.import_votes(store, frame, campaign, add_missing=True, where=str(file), by=project.actor)
        except InputError as error:
            raise with_file_rows(error, frame.index, at) from error
    return ImportedVotes(
        done.added,
        done.already,
        done.repeated,
        done.dropped,
        done.number,
        campaign,
        campaign not in known_campaigns,
        len(pairs),
        len(pairs.merge(suspects.drop_duplicates(), on=PAIR)),
        strangers,
        mapping.used,
        mapping.answers,
        delimiter,
        header,
    )


def _stored(project: "Project", campaign: str) -> "tuple[set[str], set[str], pd.DataFrame | None]":
    """The names of experts and campaigns, and the pairs that this campaign asks; None where it is unknown."""
    if not exists(project) or (not project.config.labels.url and not project.path("labels").exists()):
        return set(), set(), None
    with opened(project, create=True) as store:
        names = set(project.campaigns.list()["name"])
        asked = lead_queries.asked_pairs(store, campaign) if campaign in names else None
        return set(experts.list_experts(store)["name"]), names, asked


def _foreign_images(project: "Project", frame: "pd.DataFrame", at: Location, used: Mapping[str, str]) -> list[str]:
    """Rows whose ids are not images, and rows whose images have another role than the column says."""
    if not project.path("images").exists():
        return []
    role = _roles(project)
    faults = []
    for name, other in (("query_id", "candidate"), ("candidate_id", "query")):
        found = frame[name].map(role)
        for bad, what in (
            (found.isna() & frame[name].notna(), "no image of the catalogue"),
            (found == other, f"an image whose role is {other}"),
        ):
            rows = frame.index[bad]
            faults += [f"{at.row(row)}: {name} {short(str(frame[name][row]))} is {what}" for row in rows[:SHOWN]]
            faults += [f"and {len(rows) - SHOWN:,} more rows whose {name} is {what}"] if len(rows) > SHOWN else []
    return faults


def _roles(project: "Project") -> "pd.Series[str]":
    """The role of every image, by its id."""
    return project.read("images", columns=["image_id", "role"]).set_index("image_id")["role"]


def _unknown_pairs(
    pairs: "pd.DataFrame", suspects: "pd.DataFrame", asked: "pd.DataFrame | None", *, new_pairs: bool
) -> list[str]:
    """What is said of pairs that neither the campaign nor the suspects hold."""
    fits = len(pairs.merge(_known(suspects, asked), on=PAIR))
    if new_pairs or fits == len(pairs):
        return []
    return [f"{len(pairs) - fits:,} of {len(pairs):,} pairs are not suspects: --new-pairs takes them"]


def _known(suspects: "pd.DataFrame", asked: "pd.DataFrame | None") -> "pd.DataFrame":
    """The pairs that are suspects or that the campaign asks."""
    import pandas as pd

    return pd.concat([suspects, *([] if asked is None else [asked])]).drop_duplicates()


def _swapped(
    project: "Project",
    frame: "pd.DataFrame",
    pairs: "pd.DataFrame",
    suspects: "pd.DataFrame",
    asked: "pd.DataFrame | None",
    used: Mapping[str, str],
) -> list[str]:
    """The hint that query and candidate have changed places, where most pairs fit so and fewer as they are."""
    known = _known(suspects, asked)
    mirrored = known.rename(columns={"query_id": "candidate_id", "candidate_id": "query_id"})
    fits, swapped = (len(pairs.merge(table, on=PAIR)) for table in (known, mirrored))
    if swapped > fits and swapped >= SWAPPED * len(pairs):
        return [_swapped_hint(f"{swapped:,} of {len(pairs):,} pairs are suspects", used)]
    if not project.path("images").exists():
        return []
    role = _roles(project)
    queries, candidates = role.index[role != "candidate"], role.index[role != "query"]
    right = frame["query_id"].isin(queries) & frame["candidate_id"].isin(candidates)
    other = frame["candidate_id"].isin(queries) & frame["query_id"].isin(candidates)
    if other.mean() >= SWAPPED and other.sum() > right.sum():
        return [_swapped_hint(f"{int(other.sum()):,} of {len(frame):,} rows fit the catalogue", used)]
    return []


def _unknown_experts(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"{len(names):,} experts have no account ({', '.join(names[:SHOWN])}{more}): --new-experts adds them"


def _swapped_hint(what: str, used: Mapping[str, str]) -> str:
    query, candidate = used["query_id"], used["candidate_id"]
    swap, keep = (f"--map query_id={a},candidate_id={b}" for a, b in ((candidate, query), (query, candidate)))
    return f"query and candidate look swapped: {what} the other way round; if they are: {swap}; if not: {keep}"


def _refuse(faults: list[str], where: str) -> None:
    if faults:
        raise InputError(
            faults[0] if len(faults) == 1 else "the votes do not fit this project",
            where=where,
            hint="Nothing was imported. Rows count from 1, without the header.",
            faults=faults if len(faults) > 1 else (),
        )
