"""Pairs whose pictures are gone or were changed: out of the queues, with their labels kept and counted.

Pairs of a picture that is gone or changed are not asked until the picture is back as it was. They are in
changed_pictures.csv with the digest of the former picture, which their labels are about; the old file settles it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.errors import EdsError
from eds.io.files import write_text
from eds.project.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import pandas as pd

    from eds.project import Project

FILE = "changed_pictures.csv"
PAIR = ["query_id", "candidate_id"]
COLUMNS = [*PAIR, "image_id", "sha256", "judged"]
JUDGED = "yes"
KINDS = ("normal", "gold", "repeat")


@dataclass(frozen=True)
class PictureChanges(Result):
    """Pairs of pictures that are gone or changed."""

    gone: int  # pictures that suspects name and the catalogue lacks
    unasked: int  # suspects that name them
    labels_of_gone: int  # pairs with a label that name a picture the catalogue lacks
    labels_of_changed: int  # pairs that were judged by another picture than the catalogue has now

    @property
    def text(self) -> str:
        """The sentence that says so; empty if there are none."""
        parts = []
        if self.unasked:
            pictures = f"{self.gone:,} picture{'s' if self.gone > 1 else ''} that the catalogue lacks"
            parts.append(f"{self.unasked:,} suspects name {pictures}: they are not asked")
        if self.labels_of_gone:
            parts.append(f"{self.labels_of_gone:,} labels of missing pictures are kept")
        if self.labels_of_changed:
            parts.append(f"{self.labels_of_changed:,} labels of a changed picture are kept (see {FILE})")
        return "; ".join(parts)


def picture_changes(project: "Project", truth: "pd.DataFrame | None" = None) -> PictureChanges:
    """Count the pairs of pictures that are gone or changed; the labels are those of `truth`, by default the stored."""
    known = project.read("images", columns=["image_id"])["image_id"]
    gone, unasked, labels = 0, 0, 0
    if project.path("suspects").exists():
        suspects = project.read("suspects", columns=PAIR)
        outside = suspects[lacking(suspects, known)]
        unasked = len(outside.drop_duplicates())
        named = {*outside["query_id"], *outside["candidate_id"]}
        gone = len(named.difference(known))
    if truth is None and project.path("truth").exists():
        truth = project.read("truth", columns=PAIR)
    if truth is not None:
        labels = int(lacking(truth, known).sum())
    return PictureChanges(gone, unasked, labels, len(labels_of_changed(project)))


def lacking(pairs: "pd.DataFrame", known: "Iterable[str]") -> "pd.Series[bool]":
    """Which pairs name an image that is not among the known ones."""
    names = set(known)
    return ~(pairs["query_id"].isin(names) & pairs["candidate_id"].isin(names))


def labels_of_changed(project: "Project") -> "pd.DataFrame":
    """The pairs that were judged by other pictures than the catalogue has now: query_id, candidate_id."""
    noted = _noted(project)
    noted = noted[noted["judged"] == JUDGED]
    if not len(noted):
        return noted[PAIR]
    now = project.read("images", columns=["image_id", "sha256"]).set_index("image_id")["sha256"]
    return _differing(noted, now)[PAIR].drop_duplicates()


def note_changes(project: "Project", before: "pd.DataFrame", after: "pd.DataFrame") -> None:
    """With the catalogue: take pairs of gone and changed pictures out of queues, and say so.

    `before` and `after` are the former and the new table images. Pairs of pictures that are back, or have their judged
    content again, are asked again.
    """
    if not project.path("suspects").exists():
        return
    digest, former = (table.set_index("image_id")["sha256"] for table in (after, before))
    gone, back = former.index.difference(digest.index), digest.index.difference(former.index)
    now = digest.reindex(former.index)
    changed = former.index[(former.notna() & now.notna() & (former != now)).to_numpy(dtype=bool)]
    if not (len(gone) or len(changed) or len(back)):
        return
    suspects = project.read("suspects", columns=PAIR).drop_duplicates()
    noted = _note_pairs(project, suspects, former.loc[[*changed, *gone]].dropna())
    other = _differing(noted, digest)
    missing = lacking(suspects, digest.index)
    returned = suspects[_named(suspects, [*back, *changed]) & ~missing & ~_among(suspects, other)]
    affected = suspects[_named(suspects, [*gone, *changed]) & ~lacking(suspects, before["image_id"])]
    tasks, again = _move(project, affected[~_among(affected, returned)], returned)
    if len(gone) and len(affected):
        what = "1 picture is gone: its" if len(gone) == 1 else f"{len(gone):,} pictures are gone: their"
        project.say(f"{what} pairs are not asked any more, and labels are kept")
    if len(changed):
        count = len(other.loc[other["judged"] == JUDGED, PAIR].drop_duplicates())
        project.say(
            f"{len(changed):,} pictures have changed; {count:,} labels of a changed picture are kept (see {FILE})"
        )
    if tasks or again:
        project.say(f"queues: {tasks:,} tasks were taken out, {again:,} are asked again")


def _named(pairs: "pd.DataFrame", images: "Iterable[str]") -> "pd.Series[bool]":
    names = set(images)
    return pairs["query_id"].isin(names) | pairs["candidate_id"].isin(names)


def _noted(project: "Project") -> "pd.DataFrame":
    import pandas as pd

    file = project.root / FILE
    if not file.exists():
        return pd.DataFrame(columns=COLUMNS, dtype=str)
    noted = pd.read_csv(file, dtype=str, keep_default_na=False)
    return noted if "judged" in noted else noted.assign(judged=JUDGED)  # as eds 0.1 wrote it


def _note_pairs(project: "Project", suspects: "pd.DataFrame", former: "pd.Series[str]") -> "pd.DataFrame":
    """Remember which pairs are about these earlier pictures, and return all; the first digest of a pair stays."""
    import pandas as pd

    from eds.project.inputs import Inputs
    from eds.project.price import judged_pairs

    judged = judged_pairs(Inputs(project)).astype(str)
    parts = [_noted(project)]
    for pairs, word in ((judged, JUDGED), (suspects, "")):
        for side in PAIR:
            rows = pairs[pairs[side].isin(former.index)]
            parts.append(rows.assign(image_id=rows[side], sha256=rows[side].map(former), judged=word))
    every = pd.concat(parts, ignore_index=True).drop_duplicates([*PAIR, "image_id"])
    file = project.root / FILE
    if len(every) and not project.would_write(file, f"{len(every):,} pairs of pictures that are gone or changed"):
        write_text(file, every[COLUMNS].sort_values(COLUMNS).to_csv(index=False))
    return every


def _differing(noted: "pd.DataFrame", digest: "pd.Series[str]") -> "pd.DataFrame":
    """The noted pairs whose picture is there, with other content than was noted."""
    today = noted["image_id"].map(digest)
    return noted[today.notna() & (today != noted["sha256"])]


def _among(pairs: "pd.DataFrame", others: "pd.DataFrame") -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    import pandas as pd

    keys = pd.MultiIndex.from_frame(pairs[PAIR].astype(str))
    return keys.isin(pd.MultiIndex.from_frame(others[PAIR].astype(str)))


def _move(project: "Project", out: "pd.DataFrame", back: "pd.DataFrame") -> tuple[int, int]:
    """Take pairs out of the queues, and put those back whose pictures returned; the tasks of both."""
    import pandas as pd

    from eds.project.label_store import exists, opened

    if not exists(project) or not (len(out) or len(back)):
        return 0, 0

    def keyed(pairs: "pd.DataFrame") -> "pd.DataFrame":
        return pairs.merge(pd.DataFrame({"kind": KINDS}), how="cross")

    try:
        with opened(project) as store:
            from eds.labels.withdrawal import give_back, withdraw_pairs

            tasks = withdraw_pairs(store, keyed(out), begun=True, by=project.actor) if len(out) else 0
            again = give_back(store, keyed(back), by=project.actor) if len(back) else 0
    except EdsError as error:
        project.say(f"queues stay as they are: {error}")
        return 0, 0
    return tasks, again
