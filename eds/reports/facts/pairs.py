"""Real pairs that show what the numbers mean: hard ones, disputed ones, and what one model alone found."""

import io
from collections.abc import Callable

import numpy as np
import pandas as pd
from PIL import Image

from eds.errors import ImageError
from eds.pixels import Box, inside, open_rgb
from eds.reports.document import Block, Gallery, Gap, Pair, Picture, Sentence, count, say, share
from eds.reports.facts.evidence import by_some, scored
from eds.reports.material import Material

PAIR = ["query_id", "candidate_id"]
SIDE, QUALITY = 220, 78
CORNERS = ["box_left", "box_top", "box_right", "box_bottom"]


def hard(material: Material) -> tuple[Block, ...]:
    """Similar pairs that all models rank low, and different ones that all rank high."""
    every, told_of = scored(material)
    some = by_some(told_of) if told_of else np.zeros(len(every.value), np.bool_)
    labelled = every.select(some)
    scores = [score[some] for score in told_of.values() if np.isfinite(score[some]).all()]
    if not scores:
        return (
            Gap("No model scores all labelled pairs that others score, so hard pairs are not known.",
                "eds embeddings compute"),
        )  # fmt: skip
    place = np.mean([_percentiles(score) for score in scores], axis=0).round(12)
    frame = pd.DataFrame({
        "query_id": labelled.queries.take(labelled.query).to_pandas(),
        "candidate_id": labelled.candidates.take(labelled.candidate).to_pandas(),
        "value": labelled.value, "place": place})  # fmt: skip
    words = "On average over the models {rest} of the judged pairs score higher."

    def told(row: pd.Series) -> tuple[Sentence, ...]:
        at = float(row["place"])
        return (say(words, rest=share(1 - at)),)

    positive = _some(frame[frame["value"] == 1].sort_values(["place", *PAIR]), material.gallery)
    negative = _some(frame[frame["value"] == 0].sort_values(["place", *PAIR], ascending=[False, True, True]),
                     material.gallery)  # fmt: skip
    n = f"Mean percentile of {len(scores)} models' scores among {len(labelled.value):,} judged pairs."
    return (
        _gallery(material, "hard_positives", "Similar, but models do not see it", positive, told, n),
        _gallery(material, "hard_negatives", "Different, but models take them for similar", negative, told, n),
    )


def disputed(material: Material) -> tuple[Block, ...]:
    """Pairs that experts saw differently."""
    truth = material.need("truth")
    both = truth[(truth["votes_for"] > 0) & (truth["votes_against"] > 0)]
    if not len(both):
        return (say("No pair has votes for and against.", "note"),)
    lead = (both["votes_for"] - both["votes_against"]).abs()
    votes = both["votes_for"] + both["votes_against"]
    order = both.assign(_lead=lead, _votes=-votes).sort_values(["_lead", "_votes", *PAIR])

    def told(row: pd.Series) -> tuple[Sentence, ...]:
        words = "{for_} said similar, {against} different, {unsure} could not tell" + (" (a tie is negative)." if
                 row["tie"] else ".")  # fmt: skip
        return (say(words, for_=count(int(row["votes_for"])), against=count(int(row["votes_against"])),
                    unsure=count(int(row["unsure"]))),)  # fmt: skip

    return (
        say("{n} of {all} decided pairs have votes for and against.", n=count(len(both)), all=count(len(truth))),
        _gallery(material, "disputed", "Experts disagree", _some(order, material.gallery), told, "The closest first."),
    )


def alone(material: Material) -> tuple[Block, ...]:
    """Similar pairs that one model alone proposed, of each model in turn."""
    lists, labels = material.need("generators"), material.labels
    once = lists.drop_duplicates(PAIR, keep=False).merge(labels, on=PAIR)
    once = once[once["value"] == 1].sort_values(["model", "rank", *PAIR])
    if not len(once):
        return (say("No similar pair was found by one model alone.", "note"),)
    turn = once.groupby("model").cumcount()
    order = once.assign(_turn=turn).sort_values(["_turn", "model"])

    def told(row: pd.Series) -> tuple[Sentence, ...]:
        return (say("Only {model} found it, at place {place}.", model=str(row["model"]),
                    place=count(int(row["rank"]) + 1)),)  # fmt: skip

    return (_gallery(material, "alone", "Found by one model alone", order.head(material.gallery), told,
                     "Each model in turn."),)  # fmt: skip


def _some(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """The first rows, each image at most once, so that a gallery shows different things."""
    seen: set[str] = set()
    kept: list[int] = []
    for place, pair in enumerate(frame[PAIR].itertuples(index=False)):
        if len(kept) == most:
            break
        if seen.isdisjoint(pair):
            seen.update(pair)
            kept.append(place)
    return frame.iloc[kept]


def _percentiles(
    score: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """(pairs,) the share of pairs that score below, those with the same score counted half."""
    ordered = np.sort(score)
    below, up_to = (np.searchsorted(ordered, score, side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(score)), np.float64)


def _gallery(
    material: Material, key: str, title: str, rows: pd.DataFrame, told: Callable[[pd.Series], tuple[Sentence, ...]],
    caption: str,
) -> Block:  # fmt: skip
    if material.gallery == 0 or not len(rows):
        return say("Gallery left out: {title}.", "note", title=title)
    images = material.need("images").set_index("image_id", drop=False)
    found = []
    for _, row in rows.iterrows():  # some dozen rows
        pictures = [_picture(material, images, str(row[name])) for name in PAIR]
        found.append(Pair(pictures[0], pictures[1], bool(row["value"] == 1), told(row)))
    return Gallery(key, title, tuple(found), caption)


def _picture(material: Material, images: pd.DataFrame, name: str) -> Picture:
    if material.image_root is None:
        return Picture(name, None, "pictures left out")
    if name not in images.index:
        return Picture(name, None, "not in table images")
    row = images.loc[name]
    corners: list[int | None] = [None if pd.isna(row[corner]) else int(row[corner]) for corner in CORNERS]
    whole = [corner for corner in corners if corner is not None]
    try:
        box = Box(*whole) if len(whole) == len(CORNERS) else None
        picture = open_rgb(inside(material.image_root, str(row["path"])), box=box, draft=SIDE)
    except ImageError as error:
        return Picture(name, None, error.what)
    picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=QUALITY, optimize=True)
    return Picture(name, stream.getvalue())


PARTS = (hard, disputed, alone)
