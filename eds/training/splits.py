"""Table splits: which images a model learns from, is watched on, and is tested with.

    train       the weights are fitted to these
    validation  early stopping looks at these, so their score is optimistic
    query       the test queries, which decide nothing
    database    neither: images that the queries are compared with, if they are `searched`

The whole table is decided once, and every model and every score reads the same one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds import choices
from eds.errors import InputError
from eds.pairs import Integers
from eds.schema import to_arrow, to_frame
from eds.tables import PARTS, SPLITS

TRAIN, VALIDATION, QUERY, DATABASE = PARTS
NAMED = {  # what datasets call their parts
    **dict.fromkeys(("train", "training", "trn"), TRAIN),
    **dict.fromkeys(("validation", "valid", "val", "dev"), VALIDATION),
    **dict.fromkeys(("query", "queries", "test"), QUERY),
    **dict.fromkeys(("database", "gallery", "candidate", "index", "base"), DATABASE),
}
# Three splits that papers all call "CIFAR-10", by the names of DeepHash-pytorch: queries and training images of each
# class, and what the queries are compared with. Numbers of different ones cannot be compared.
STANDARD: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "cifar10": (100, 500, (DATABASE,)),  # 1,000 queries, 54,000 others
    "cifar10-1": (100, 500, (TRAIN, DATABASE)),  # 1,000 queries, 59,000 others: those trained on, too
    "cifar10-2": (1000, 5000, (TRAIN,)),  # 10,000 queries, 50,000 others, all of them trained on
}


@dataclass(frozen=True)
class Split:
    """The rows of each part, ascending (rows,) int64."""

    train: Integers
    validation: Integers  # early stop looks at these: the choice of the epoch makes their score optimistic
    test: Integers  # the queries; nothing is chosen by these
    database: Integers  # what the queries are compared with, themselves included if they are searched


def draw_split(
    images: pd.DataFrame,
    by: str = "product",
    *,
    searched: str = "queries",
    validation_share: float = 0.1,
    test_share: float = 0.2,
    seed: int = 0,
) -> pd.DataFrame:
    """Draw table splits of `images` (image_id, product_id, category): by product, image, or product within category.

    The test queries are compared with each other (`searched` queries), with all images but the queries (others), or
    with both (all). By "all" every image is for training, and nothing is left to test on.

    >>> few = pd.DataFrame({"image_id": list("abcdef"), "product_id": list("112233"), "category": None})
    >>> draw_split(few, validation_share=0, test_share=0.34)["part"].tolist()
    ['train', 'train', 'train', 'train', 'query', 'query']
    """
    choices.check(choices.SplitBy, by, "by")
    choices.check(choices.Searched, searched, "searched")
    shares = {"validation share": validation_share, "test share": test_share}
    faults = [f"{name} is {share}; from 0 to below 1" for name, share in shares.items() if not 0 <= share < 1]
    if faults or validation_share + test_share >= 1:
        raise InputError(
            "these shares leave nothing to train on", where="splits", hint="Lower them.", faults=faults or [str(shares)]
        )
    group = images["image_id" if by == "random" else "product_id"]
    if by == "all":
        return _table(images, pd.Series(TRAIN, images.index), (TRAIN,))
    stratum = pd.Series("", images.index)
    if by == "stratified":
        stratum = _categories(images)
        torn = pd.DataFrame({"group": group, "stratum": stratum}).groupby("group")["stratum"].nunique()
        if (torn > 1).any():
            raise InputError(
                f"{int((torn > 1).sum()):,} products are in several categories: {torn.index[torn > 1][0]}",
                where="table images",
                hint="Correct them, or draw by product.",
            )
    part = pd.Series(TRAIN, images.index)
    rng = np.random.default_rng(seed)
    for _, groups in group.groupby(stratum, sort=True):
        names = rng.permutation(np.sort(groups.unique()))
        tested, watched = round(test_share * len(names)), round(validation_share * len(names))
        part[groups.index[groups.isin(names[:tested])]] = QUERY
        part[groups.index[groups.isin(names[tested : tested + watched])]] = VALIDATION
    others = (TRAIN, VALIDATION, DATABASE)
    return _table(images, part, {"queries": (QUERY,), "others": others, "all": PARTS}[searched])


def standard_split(
    images: pd.DataFrame, name: str, seed: int = 0, counts: tuple[int, int, tuple[str, ...]] | None = None
) -> pd.DataFrame:
    """Draw one of the standard splits of the literature, by category: `STANDARD`; `counts` are those of another."""
    if counts is None and name not in STANDARD:
        raise InputError(f"unknown standard split {name!r}", where="splits", hint=f"Known: {', '.join(STANDARD)}.")
    queries, trained, searched = counts or STANDARD[name]
    part, category, rng = pd.Series(DATABASE, images.index), _categories(images), np.random.default_rng(seed)
    faults = []
    for kind, rows in images["image_id"].groupby(category, sort=True):
        if len(rows) < queries + trained:
            faults.append(f"{kind}: {len(rows):,}")
            continue
        order = rng.permutation(rows.sort_values().index.to_numpy())
        part[order[:queries]], part[order[queries : queries + trained]] = QUERY, TRAIN
    if faults:
        raise InputError(
            f"{name} takes {queries + trained:,} images of each category",
            where="table images",
            hint="Draw another split, as stratified.",
            faults=faults[:10],
        )
    return _table(images, part, searched)


def split_by_column(
    images: pd.DataFrame, column: str, meaning: Mapping[str, str] | None = None, searched: str = "others"
) -> pd.DataFrame:
    """Table splits from a column of table images, as `phase`; `meaning` says which part a value of it is.

    >>> few = pd.DataFrame({"image_id": ["a", "b"], "phase": ["training", "test"]})
    >>> split_by_column(few, "phase")["part"].tolist()
    ['train', 'query']
    """
    if column not in images.columns:
        raise InputError(f"table images has no column {column}", where="splits", hint="Name another: --column.")
    choices.check(choices.Searched, searched, "searched")
    known = {**NAMED, **(meaning or {})}
    if wrong := sorted(set(known.values()) - set(PARTS)):
        raise InputError(f"unknown part {wrong[0]!r}", where="splits", hint=f"Parts are {', '.join(PARTS)}.")
    values = images[column].astype("str").str.lower() if meaning is None else images[column].astype("str")
    part = values.map(known)
    if part.isna().any():
        strange = ", ".join(map(str, images.loc[part.isna(), column].drop_duplicates().head(3)))
        raise InputError(
            f"{int(part.isna().sum()):,} images have a {column} that names no part: {strange}",
            where="table images",
            hint="Say what it means: --map VALUE=PART.",
        )
    others = (TRAIN, VALIDATION, DATABASE)
    return _table(images, part, {"queries": (QUERY,), "others": others, "all": PARTS}[searched])


def rows_of(splits: pd.DataFrame, ids: "list[str]") -> Split:
    """The rows of each part among images in this order; images that the table does not name are in no part."""
    placed = splits.set_index("image_id").reindex(ids)
    part = placed["part"].to_numpy(dtype=object)
    train, validation, test = (np.flatnonzero(part == name) for name in (TRAIN, VALIDATION, QUERY))
    if not len(train):
        raise InputError(
            "no image with a vector is for training", where="table splits", hint="Draw it again: eds training split."
        )
    return Split(train, validation, test, np.flatnonzero(placed["searched"].eq(True).to_numpy(dtype=bool)))


def splits_frame(parts: Split, ids: "list[str]") -> pd.DataFrame:
    """Table splits of rows that were drawn for one model: what `rows_of` reads."""
    part = np.full(len(ids), DATABASE, object)
    for name, rows in ((TRAIN, parts.train), (VALIDATION, parts.validation), (QUERY, parts.test)):
        part[rows] = name
    searched = np.isin(np.arange(len(ids)), parts.database)
    return _checked(pd.DataFrame({"image_id": ids, "part": part, "searched": searched}))


def _table(images: pd.DataFrame, part: "pd.Series[str]", searched: tuple[str, ...]) -> pd.DataFrame:
    found = pd.DataFrame({"image_id": images["image_id"], "part": part, "searched": part.isin(searched)})
    if not (part == TRAIN).any():
        raise InputError("no image is for training", where="splits", hint="Use other shares, or another column.")
    return _checked(found.sort_values("image_id", ignore_index=True))


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    return to_frame(to_arrow(frame, SPLITS))


def _categories(images: pd.DataFrame) -> "pd.Series[str]":
    lacking = images["category"].isna()
    if lacking.any():
        raise InputError(
            f"{int(lacking.sum()):,} images have no category: {', '.join(images.loc[lacking, 'image_id'].head(3))}",
            where="table images",
            hint="Fill the column, or draw by product.",
        )
    kinds: pd.Series[str] = images["category"].astype("str")
    return kinds
