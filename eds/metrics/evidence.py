"""What measures are computed on, read and held against each other: labels, lists, scores, drawn negatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.metrics.catalogue import Catalogue
from eds.metrics.check_lists import check_placed, check_rules
from eds.metrics.code_histograms import CodeHistograms
from eds.metrics.definition import Evidence
from eds.metrics.judged_lists import JudgedLists, count_unlabelled_lists, judge, judge_own_product, read_rankings
from eds.metrics.measure import Measure
from eds.metrics.pair_scores import align_scores
from eds.metrics.product_retrieval import own_product_lists
from eds.metrics.unjudged import POOLED, hidden_places, left_out_by_rules, pooled_of, without_label
from eds.pairs import Flags, Integers, KnownRanks, LabelledPairs, Reals, encode, unique_ids


@dataclass(frozen=True, eq=False)
class Gathered:
    """All models' evidence, and what was left out of it."""

    labelled: LabelledPairs
    lists: dict[str, JudgedLists]
    strange: dict[str, int]  # by model: lists of queries that have no label
    scores: dict[str, Reals]
    sampled: LabelledPairs | None
    sampled_scores: dict[str, Reals]
    left_out: int  # drawn negatives that are labelled, or whose query is not
    products: dict[str, tuple[JudgedLists, pa.Array]]  # with the ids of their queries
    coded: dict[str, CodeHistograms]
    hidden: dict[str, Integers]
    barred: Flags | None
    unlabelled: int | None
    silent: int  # queries of the catalogue that have no label
    scored: bool  # whether scores were given at all

    @property
    def models(self) -> list[str]:
        """Every model that has anything, ascending."""
        return sorted({*self.lists, *self.scores, *self.products, *self.coded})

    def of(self, model: str) -> Evidence:
        """One model's evidence."""
        products, queries = self.products.get(model, (None, None))
        return Evidence(
            self.labelled,
            self.lists.get(model),
            self.scores.get(model, self._unscored(self.labelled)),
            self.sampled,
            self.sampled_scores.get(model, self._unscored(self.sampled)),
            products,
            queries,
            self.coded.get(model),
            self.hidden.get(model),
            self.barred,
            self.unlabelled,
        )

    def _unscored(self, labelled: LabelledPairs | None) -> Reals | None:
        """The scores of a model that has none: every pair counts as one without a score."""
        return None if labelled is None or not self.scored else np.full(len(labelled.value), np.nan)


def gather(
    rankings: pd.DataFrame | None,
    truth: pd.DataFrame,
    scores: pd.DataFrame | None,
    images: pd.DataFrame | None,
    measures: Sequence[Measure],
    *,
    negatives: pd.DataFrame | None = None,
    placed: KnownRanks | None = None,
    own: KnownRanks | None = None,
    coded: Mapping[str, CodeHistograms] | None = None,
    pooled: pd.DataFrame | None = None,
    heads: pd.DataFrame | None = None,
    category: str = "any",
) -> Gathered:
    """The frames of `eds.metrics.score`, checked, with all that is missing told at once."""
    _check_given(rankings, placed, own, scores, images, negatives, coded, measures)
    labelled = LabelledPairs.from_frame(truth, "table truth")
    lists = None if rankings is None else read_rankings(rankings)
    catalogue = None if images is None else Catalogue(images)
    if lists is not None:
        check_rules(lists, catalogue, measures)
    if placed is not None:
        check_placed(placed, catalogue, measures)
    twice = sorted(set(lists.models if lists else ()) & set(placed.models if placed else ()))
    if twice:
        raise InputError(f"lists and ranks of pairs, both of model {', '.join(twice)}", do="Give one of the two.")
    products: dict[str, tuple[JudgedLists, pa.Array]] = {}
    if lists is not None and images is not None and any(m.definition.needs == "product lists" for m in measures):
        of = dict(zip(images["image_id"], images["product_id"], strict=True))
        roles = "role" in images.columns
        gallery = images[images["role"] != "query"] if roles else images
        asked = unique_ids(images.loc[images["role"] != "candidate", "image_id"]) if roles else lists.queries
        found = own_product_lists(lists, gallery, of, asked)
        products = {name: (own_lists, asked) for name, own_lists in found.items()}
    if own is not None:
        products |= {name: (found, own.queries) for name, found in judge_own_product(own).items()}
    sampled, left_out = (None, 0) if negatives is None else with_negatives(labelled, negatives)
    asked = None if pooled is None else pooled_of(labelled, pooled)
    among = asked if any(measure.name in POOLED for measure in measures) else None
    hidden: dict[str, Integers] = {}
    barred = None
    if catalogue is not None and any(measure.definition.needs == "official lists" for measure in measures):
        barred = left_out_by_rules(labelled, catalogue, category)
        for source in (lists, None if heads is None else read_rankings(heads)):
            hidden |= {} if source is None else hidden_places(source, labelled, catalogue)
    return Gathered(
        labelled,
        judge(lists, placed, labelled, among),
        {} if lists is None else count_unlabelled_lists(lists, labelled),
        {} if scores is None else align_scores(labelled, scores),
        sampled,
        {} if scores is None or sampled is None else align_scores(sampled, scores),
        left_out,
        products,
        dict(coded or {}),
        hidden,
        barred,
        None if asked is None else without_label(asked, labelled),
        0 if catalogue is None else catalogue.silent(labelled),
        scores is not None,
    )


def with_negatives(labelled: LabelledPairs, negatives: pd.DataFrame) -> tuple[LabelledPairs, int]:
    """LabelledPairs positives and drawn negatives over the same queries; and how many drawn ones were left out.

    Left out are pairs that have a label by now, here or (column `labelled` of the negatives, if there is one) among
    labels that nothing is measured on; and those of queries that have none.
    """
    drawn = negatives.drop_duplicates(["query_id", "candidate_id"])
    known = encode(drawn["query_id"], labelled.queries) >= 0
    free = labelled.find_ids(drawn["query_id"], drawn["candidate_id"]) < 0
    if "labelled" in drawn.columns:
        free &= ~drawn["labelled"].to_numpy(dtype=bool)
    used = drawn.loc[known & free, ["query_id", "candidate_id"]]
    positives = labelled.select(labelled.value == 1).to_frame()
    rows = pd.concat([positives, used.assign(value=0)], ignore_index=True)
    return LabelledPairs.from_frame(rows, "sampled negatives", queries=labelled.queries), len(drawn) - len(used)


def _check_given(
    rankings: Any,
    placed: Any,
    own: Any,
    scores: Any,
    images: Any,
    negatives: Any,
    coded: Any,
    measures: Sequence[Measure],
) -> None:
    if not measures:
        raise InputError("no measure is asked for", where="measures", do="Name one, as RR@10, or a preset.")
    needs = {measure.definition.needs for measure in measures}
    sampled = any(measure.parameters.get("negatives") == "sampled" for measure in measures)
    on_lists = bool(needs & {"lists", "official lists"})
    missing = (
        ("rankings", rankings is None and placed is None, on_lists, "measures on lists need them"),
        ("lists with the own product", rankings is None and own is None, "product lists" in needs,
         "measures of recognition need them"),
        ("scores", scores is None, "scores" in needs, "measures on scores need those of the labelled pairs"),
        ("images", images is None, bool(needs & {"official lists", "product lists"}), "products must be known"),
        ("codes", coded is None, "codes" in needs, "measures on codes need the histograms of hash models"),
        ("negatives", negatives is None, sampled, "negatives=sampled needs drawn pairs: eds suspects negatives"),
    )  # fmt: skip
    faults = [f"{name} are missing; {why}" for name, gone, wanted, why in missing if wanted and gone]
    if faults:
        raise InputError("the measures cannot be computed", where="score", do="Give what is missing:", faults=faults)
