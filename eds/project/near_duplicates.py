"""Near duplicates: which images look alike, and what was decided about each pair.

A decision is a line of duplicates.csv: keep both, merge their products, or drop the second image. It changes the table
images at once, holds at every later scan and import, and is in the journal, so that it can be undone. The rows that
decisions change are kept in .eds/duplicates.parquet as they were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from eds import choices
from eds.choices import DuplicateDecision as Decision
from eds.errors import InputError, ProjectError
from eds.images.duplicate_decisions import DecidedPair, apply_decisions, without_decisions
from eds.io.files import replacing, write_text
from eds.project.changed_pictures import note_changes
from eds.project.excluded_images import read_excluded, write_excluded
from eds.project.journal import MOMENT
from eds.project.results import Result
from eds.tables import Operation, Provenance, read_provenance

if TYPE_CHECKING:
    from eds.project import Project

FILE, BEFORE, NEAR = "duplicates.csv", ".eds/duplicates.parquet", ".eds/scan/near.csv"
PAIR = ["left_id", "right_id"]
Applied = tuple[pd.DataFrame, pd.DataFrame, tuple[Operation, ...]]
LISTED = 10_000  # pairs in the list, the closest ones
WIDEST = 16  # bits of 64: beyond, hashes of different images are as close
COLUMNS_LISTED = [*PAIR, "distance", "same_product", "decision", "actor", "at"]
COLUMNS = ["number", "at", "actor", *PAIR, "decision", "undone"]


@dataclass(frozen=True)
class NearDuplicatesResult(Result):
    """The near duplicates of the last scan, the closest first."""

    pairs: int
    open: int  # pairs without a decision
    table: pd.DataFrame  # left_id, right_id, distance, same_product, decision, actor, at


@dataclass(frozen=True)
class DuplicatesDecided(Result):
    """What a decision does to the catalogue."""

    decision: Decision
    pairs: int
    images: int  # of the catalogue now
    dropped: int  # images that left the catalogue
    merged: int  # images whose product is another now


def near_duplicates(project: "Project", *, open_only: bool = False) -> NearDuplicatesResult:
    """List the near duplicates; see `Project.near_duplicates`."""
    found = _listed(project)
    decided = _in_force(read_decisions(project))
    keys = _keys(found)
    table = found
    for name in ("decision", "actor", "at"):
        values = dict(zip(_keys(decided), decided[name], strict=True))
        table = table.assign(**{name: [values.get(key, "") for key in keys]})
    product = project.read("images", columns=["image_id", "product_id"]).set_index("image_id")["product_id"]
    left, right = table["left_id"].map(product), table["right_id"].map(product)
    table["same_product"] = (left == right).fillna(False).astype(bool)
    there = table["left_id"].isin(product.index) & table["right_id"].isin(product.index)
    table = table[there | (table["decision"] != "")]
    undecided = table["decision"] == ""
    shown = table[undecided] if open_only else table
    return NearDuplicatesResult(len(table), int(undecided.sum()), shown[COLUMNS_LISTED].reset_index(drop=True))


def find_near_duplicates(project: "Project", near: int) -> NearDuplicatesResult:
    """Search a catalogue that was not scanned; see `Project.find_near_duplicates`."""
    from eds.images.scan import scan

    if not 0 <= near <= WIDEST:
        raise InputError(f"near is {near}", where="near", hint=f"Give 0 to {WIDEST} bits.")
    images = project.read("images")
    if project.would("replace", NEAR, f"near duplicates of {len(images):,} images"):
        return NearDuplicatesResult(0, 0, pd.DataFrame(columns=COLUMNS_LISTED))
    with project.writing("images.duplicates"), project.progress("reading", "files") as progress:
        cache = project.root / ".eds" / "scan.parquet"
        found = scan(images, project.pictures, near=near, cache=cache, progress=progress)
        write_near(project, found.near)
    if len(found.bad):
        project.say(f"{len(found.bad):,} images cannot be read and are not compared: eds images check lists them.")
    return near_duplicates(project)


def write_near(project: "Project", near: pd.DataFrame) -> None:
    """Write the list of near duplicates, the closest ones."""
    write_text(project.root / NEAR, near.head(LISTED).to_csv(index=False))


def decide_duplicates(project: "Project", pairs: Sequence[tuple[str, str]], decision: Decision) -> DuplicatesDecided:
    """Decide pairs of near duplicates; see `Project.decide_duplicates`."""
    choices.check(choices.DuplicateDecision, decision, "decision")
    _check_rights(project)
    with project.writing("images.duplicates"):
        _check_pairs(project, pairs)
        before = read_decisions(project)
        number = int(before["number"].max()) + 1 if len(before) else 1
        new = pd.DataFrame(list(pairs), columns=PAIR).assign(
            number=number,
            at=datetime.now(UTC).strftime(MOMENT),
            actor=project.actor,
            decision=decision,
            undone="",
        )
        was = project.read("images")
        now = _write(project, pd.concat([before, new[COLUMNS]], ignore_index=True))
    products = was.set_index("image_id")["product_id"].reindex(now["image_id"])
    merged = int((products.to_numpy() != now["product_id"].to_numpy()).sum())
    return DuplicatesDecided(decision, len(pairs), len(now), len(was) - len(now), merged)


def undo_decision(project: "Project", number: int) -> int:
    """Take the decision of this number back; how many images are in the catalogue again."""
    decisions = read_decisions(project)
    mine = decisions["number"] == number
    was = project.read("images", columns=["image_id"])
    moment = datetime.now(UTC).strftime(MOMENT)
    now = _write(project, decisions.assign(undone=decisions["undone"].mask(mine, moment)))
    return len(now) - len(was)


def read_decisions(project: "Project") -> pd.DataFrame:
    """Every decision, oldest first: number, at, actor, left_id, right_id, decision, undone (when, or empty)."""
    file = project.root / FILE
    if not file.exists():
        return pd.DataFrame({name: pd.Series([], dtype=object) for name in COLUMNS})
    try:
        found = pd.read_csv(file, dtype=str, keep_default_na=False)
        return found[COLUMNS].astype({"number": "int64"})
    except (ValueError, KeyError, OSError) as error:
        raise InputError(
            f"the decisions about duplicates are damaged ({type(error).__name__})",
            where=str(file),
            hint="Restore a copy: without them merged and dropped images would return.",
        ) from error


def decided_images(
    project: "Project", images: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[Operation, ...]]:
    """A new table images after the decisions in force, the rows that they changed, and the operation to record."""
    return _applied(images, _in_force(read_decisions(project)))


def keep_rows(project: "Project", before: pd.DataFrame) -> None:
    """Keep the rows that decisions changed, as they were, so that the decisions can be undone."""
    file = project.root / BEFORE
    if not len(before):
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(exist_ok=True)
    with replacing(file) as temporary:
        before.to_parquet(temporary, index=False)


def _applied(images: pd.DataFrame, decided: pd.DataFrame) -> Applied:
    rows = decided[decided["decision"] != "keep"]
    decisions = [
        DecidedPair(str(left), str(right), decision)
        for left, right, decision in zip(rows["left_id"], rows["right_id"], rows["decision"], strict=True)
    ]
    after, before = apply_decisions(images, decisions)
    if not len(before):
        return images, before, ()
    counts = {name: int((rows["decision"] == name).sum()) for name in ("merge", "drop")}
    text = rows[[*PAIR, "decision"]].to_csv(index=False)
    params = {
        **{name: count for name, count in counts.items() if count},
        "digest": sha256(text.encode()).hexdigest()[:12],
    }
    return after, before, (Operation("images.duplicates", params),)


def _write(project: "Project", decisions: pd.DataFrame) -> pd.DataFrame:
    """Write the decisions and the table images that follows from them; the table."""
    was, left_out = project.read("images"), read_excluded(project)
    file = project.root / BEFORE
    earlier = pd.read_parquet(file) if file.exists() else was.iloc[:0].assign(place=0)
    base = without_decisions(was, earlier).astype(was.dtypes.to_dict())
    now, before, operations = _applied(base, _in_force(decisions))
    made_by, _ = _provenance(project)
    if not project.would_write(project.root / FILE, f"{len(decisions):,} decisions about duplicates"):
        write_text(project.root / FILE, decisions[COLUMNS].to_csv(index=False))
    if now.equals(was):
        return now
    project.write(now, "images", replace(made_by, later=operations))
    if not project.dry_run:
        keep_rows(project, before)
        dropped = set(before["image_id"]) - set(now["image_id"])
        write_excluded(project, (left_out - set(now["image_id"])) | dropped)
        note_changes(project, was, now)
    return now


def _provenance(project: "Project") -> tuple[Provenance, int]:
    from eds.tables import IMAGES

    return read_provenance(project.path("images"), IMAGES)


def _in_force(decisions: pd.DataFrame) -> pd.DataFrame:
    """The last decision of each pair that was not undone."""
    held = decisions[decisions["undone"] == ""]
    return held[~_keys(held).duplicated(keep="last")]


def _keys(pairs: pd.DataFrame) -> "pd.Series[str]":
    """A text for each pair, the same in both directions."""
    keys = ["\0".join(sorted((str(left), str(right)))) for left, right in pairs[PAIR].to_numpy()]
    return pd.Series(keys, index=pairs.index, dtype=object)


def is_searched(project: "Project") -> bool:
    """Whether a scan, an import or a search has listed near duplicates."""
    return Path(project.root / NEAR).exists()


def _listed(project: "Project") -> pd.DataFrame:
    file = Path(project.root / NEAR)
    if not is_searched(project):
        raise ProjectError(
            "near duplicates have not been searched yet",
            where=str(project.root),
            hint="Search them: eds images duplicates search.",
        )
    return pd.read_csv(file, dtype=str, keep_default_na=False).astype({"distance": "int64"})


def _check_pairs(project: "Project", pairs: Sequence[tuple[str, str]]) -> None:
    if not pairs:
        raise InputError("no pairs are named", hint="Name the two images of each pair: eds images duplicates.")
    known = {*project.read("images", columns=["image_id"])["image_id"]}
    decided = read_decisions(project)
    known |= {*decided["left_id"], *decided["right_id"]}
    unknown = list(dict.fromkeys(name for pair in pairs for name in pair if name not in known))
    faults = [f"{name} is not in the catalogue" for name in unknown]
    faults += [f"{left} is named twice" for left, right in pairs if left == right]
    if faults:
        raise InputError("these are not pairs of images", faults=faults[:20], hint="See eds images duplicates.")


def _check_rights(project: "Project") -> None:
    """Refuse an actor of the label store who is not a lead."""
    from eds.project.undo import check_rights

    check_rights(project, "decide duplicates")
