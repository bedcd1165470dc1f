"""Pairs that illustrate the numbers: hard ones, disputed ones, and those that one model alone found."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import ImageError
from eds.imaging import SIDES, thumbnail
from eds.pairs import Reals
from eds.reports.coverage import scored_by_any, scored_pairs
from eds.reports.document import Block, Gallery, Gap, Pair, Picture, Sentence, count, note, say, share
from eds.reports.inputs import LABEL_INPUTS, PAIR, ReportInputs
from eds.reports.sections import Blocks, SectionSpec

QUALITY = 78
NO_SCORES = Gap(
    "No model scores all labelled pairs that others score, so hard pairs are unknown.", "eds embeddings compute"
)
Remark = Callable[[pd.Series], Sentence]


def hard(inputs: ReportInputs) -> Blocks:
    """Similar pairs that all models score low, and different ones that all score high."""
    every, by_model = scored_pairs(inputs)
    scored = scored_by_any(by_model) if by_model else np.zeros(len(every.value), np.bool_)
    labelled = every.select(scored)
    scores = [score[scored] for score in by_model.values() if np.isfinite(score[scored]).all()]
    if not scores:
        return (NO_SCORES,)
    frame = pd.DataFrame(
        {
            "query_id": labelled.queries.take(labelled.query).to_pandas(),
            "candidate_id": labelled.candidates.take(labelled.candidate).to_pandas(),
            "value": labelled.value,
            "percentile": np.mean([_percentiles(score) for score in scores], axis=0).round(12),
        }
    )

    def remark(row: pd.Series) -> Sentence:
        words = "{rest} of the judged pairs score higher."
        return say(words, rest=share(1 - float(row["percentile"])))

    positive = frame[frame["value"] == 1].sort_values(["percentile", *PAIR])
    negative = frame[frame["value"] == 0].sort_values(["percentile", *PAIR], ascending=[False, True, True])
    caption = f"By the mean percentile of {len(scores)} models' scores among {len(labelled.value):,} judged pairs."
    return (
        _gallery(inputs, "hard_positives", "Similar, but models score it low", positive, remark, caption),
        _gallery(inputs, "hard_negatives", "Different, but models score it high", negative, remark, caption),
    )


def disputed(inputs: ReportInputs) -> Blocks:
    """Pairs on which experts disagree."""
    truth = inputs.require("truth")
    both = truth[(truth["votes_for"] > 0) & (truth["votes_against"] > 0)]
    if not len(both):
        return (note("No pair has votes for and against."),)
    margin = (both["votes_for"] - both["votes_against"]).abs()
    votes = both["votes_for"] + both["votes_against"]
    order = both.assign(_margin=margin, _votes=-votes).sort_values(["_margin", "_votes", *PAIR])

    def remark(row: pd.Series) -> Sentence:
        return say(
            "{for_} said similar, {against} different, {unsure} unsure" + (" (a tie)." if row["tie"] else "."),
            for_=count(int(row["votes_for"])),
            against=count(int(row["votes_against"])),
            unsure=count(int(row["unsure"])),
        )

    return (
        say("{n} of {all} decided pairs have votes for and against.", n=count(len(both)), all=count(len(truth))),
        _gallery(inputs, "disputed", "Experts disagree", order, remark, "The closest votes first."),
    )


def found_alone(inputs: ReportInputs) -> Blocks:
    """Similar pairs that one model alone proposed, one model after the other."""
    lists, labels = inputs.require("pool_lists"), inputs.labels
    once = lists.drop_duplicates(PAIR, keep=False).merge(labels, on=PAIR)
    once = once[once["value"] == 1].sort_values(["model", "rank", *PAIR])
    if not len(once):
        return (note("No similar pair was found by one model alone."),)
    order = once.assign(_turn=once.groupby("model").cumcount()).sort_values(["_turn", "model"]).head(inputs.gallery)

    def remark(row: pd.Series) -> Sentence:
        return say("Only {model} found it, at rank {rank}.", model=str(row["model"]), rank=count(int(row["rank"]) + 1))

    caption = "One from each model in turn."
    return (_gallery(inputs, "alone", "Found by one model alone", order, remark, caption, repeat_images=True),)


def _percentiles(score: Reals) -> Reals:
    """(pairs,) the share of pairs that score lower; equal scores count half."""
    ordered = np.sort(score)
    below, up_to = (np.searchsorted(ordered, score, side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(score)), np.float64)


def _gallery(
    inputs: ReportInputs,
    key: str,
    title: str,
    rows: pd.DataFrame,
    remark: Remark,
    caption: str,
    repeat_images: bool = False,
) -> Block:
    """The first rows with their images; each image at most once unless `repeat_images`."""
    shown = rows if repeat_images else _without_repeats(rows, inputs.gallery)
    if inputs.gallery == 0:
        return note("Gallery omitted: {title}.", title=title)
    if not len(shown):
        return note("No judged pair is in this gallery: {title}.", title=title)
    images = inputs.require("images").set_index("image_id", drop=False)
    pairs = []
    for _, row in shown.iterrows():  # some dozen rows
        query, candidate = (picture_of(inputs, images, str(row[name])) for name in PAIR)
        pairs.append(Pair(query, candidate, bool(row["value"] == 1), (remark(row),)))
    return Gallery(key, title, tuple(pairs), caption)


def _without_repeats(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """The first rows, each image at most once."""
    seen: set[str] = set()
    kept: list[int] = []
    for index, pair in enumerate(frame[PAIR].itertuples(index=False)):
        if len(kept) == most:
            break
        if seen.isdisjoint(pair):
            seen.update(pair)
            kept.append(index)
    return frame.iloc[kept]


def picture_of(inputs: ReportInputs, images: pd.DataFrame, name: str) -> Picture:
    """The thumbnail of an image, `images` by id; or the reason why there is none."""
    if inputs.image_root is None:
        return Picture(name, None, "pictures omitted")
    if name not in images.index:
        return Picture(name, None, "not in table images")
    try:
        row: Any = images.loc[name]
        picture = thumbnail(inputs.image_root, row, SIDES["report"])
    except ImageError as error:
        return Picture(name, None, error.what)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=QUALITY, optimize=True)
    return Picture(name, stream.getvalue())


SECTION = SectionSpec(
    title="Pairs to look at",
    question="Pairs that show what the numbers mean.",
    order=70,
    inputs=("images", *LABEL_INPUTS, "scores", "pool_lists"),
    parts=(hard, disputed, found_alone),
)
