"""What models are scored on: the tables that a caller gives, checked against each other and prepared as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.metrics.catalogue import Catalogue
from eds.metrics.check_lists import check_known_ranks, check_rules
from eds.metrics.code_histograms import CodeHistograms
from eds.metrics.definition import ModelInputs
from eds.metrics.judged_lists import (
    JudgedLists,
    count_unlabelled_lists,
    judge,
    judge_own_product,
    read_rankings,
)
from eds.metrics.measure import Measure
from eds.metrics.pair_scores import align_scores
from eds.metrics.product_retrieval import own_product_lists
from eds.metrics.unjudged import hidden_places, left_out_by_rules, pooled_of, without_label
from eds.pairs import Flags, Integers, KnownRanks, LabelledPairs, RankedLists, Reals, encode, unique_ids


@dataclass(frozen=True, eq=False)
class ScoringInputs:
    """The tables that models are scored on; None for whatever no measure needs."""

    truth: pd.DataFrame  # query_id, candidate_id, value
    rankings: pd.DataFrame | None = None  # table neighbors
    scores: pd.DataFrame | None = None  # model, query_id, candidate_id, score of the labelled (and drawn) pairs
    images: pd.DataFrame | None = None  # the catalogue, against which lists are checked
    negatives: pd.DataFrame | None = None  # drawn pairs that count as negative where a measure says so
    ranks: KnownRanks | None = None  # instead of lists, the ranks of the labelled pairs
    own_ranks: KnownRanks | None = None  # the ranks of pairs of one product in lists that keep it
    codes: Mapping[str, CodeHistograms] | None = None  # by model, the distance histograms of its binary codes
    pooled: pd.DataFrame | None = None  # pairs that were asked, judged or not (default: the labelled ones)
    heads: pd.DataFrame | None = None  # the first places of lists of models in `ranks`: what hides positives there
    category: str = "any"  # which candidates the lists may hold: any, same or other category


@dataclass(frozen=True, eq=False)
class PreparedInputs:
    """All models' inputs as arrays, and what was left out of them."""

    labelled: LabelledPairs
    lists: dict[str, JudgedLists]
    unlabelled_lists: dict[str, int]  # by model: lists of queries that have no label
    scores: dict[str, Reals]
    sampled: LabelledPairs | None
    sampled_scores: dict[str, Reals]
    left_out: int  # drawn negatives that are labelled, or whose query is not
    products: dict[str, tuple[JudgedLists, pa.Array]]  # with the ids of their queries
    codes: Mapping[str, CodeHistograms]
    hidden: dict[str, Integers]
    barred: Flags | None
    unlabelled: int | None
    silent: int  # queries of the catalogue that have no label
    scored: bool  # whether scores were given at all

    @property
    def models(self) -> list[str]:
        """Every model that has anything, ascending."""
        return sorted({*self.lists, *self.scores, *self.products, *self.codes})

    def of(self, model: str) -> ModelInputs:
        """One model's inputs."""
        products, queries = self.products.get(model, (None, None))
        return ModelInputs(
            self.labelled,
            self.lists.get(model),
            self.scores.get(model, self._unscored(self.labelled)),
            self.sampled,
            self.sampled_scores.get(model, self._unscored(self.sampled)),
            products,
            queries,
            self.codes.get(model),
            self.hidden.get(model),
            self.barred,
            self.unlabelled,
        )

    def _unscored(self, labelled: LabelledPairs | None) -> Reals | None:
        """The scores of a model that has none: every pair counts as one without a score."""
        return None if labelled is None or not self.scored else np.full(len(labelled.value), np.nan)


def prepare(inputs: ScoringInputs, measures: Sequence[Measure]) -> PreparedInputs:
    """The inputs checked, all faults at once, and as arrays."""
    _check_complete(inputs, measures)
    labelled = LabelledPairs.from_frame(inputs.truth, "table truth")
    lists = None if inputs.rankings is None else read_rankings(inputs.rankings)
    catalogue = None if inputs.images is None else Catalogue(inputs.images)
    if lists is not None:
        check_rules(lists, catalogue, measures)
    if inputs.ranks is not None:
        check_known_ranks(inputs.ranks, catalogue, measures)
    both = sorted(set(lists.models if lists else ()) & set(inputs.ranks.models if inputs.ranks else ()))
    if both:
        raise InputError(f"lists and ranks of pairs, both of model {', '.join(both)}", hint="Give one of the two.")
    sampled, left_out = (None, 0) if inputs.negatives is None else with_negatives(labelled, inputs.negatives)
    pooled = None if inputs.pooled is None else pooled_of(labelled, inputs.pooled)
    counted = pooled if any(measure.definition.counts_pooled for measure in measures) else None
    hidden: dict[str, Integers] = {}
    barred = None
    if catalogue is not None and any(measure.definition.needs == "official lists" for measure in measures):
        barred = left_out_by_rules(labelled, catalogue, inputs.category)
        for source in (lists, None if inputs.heads is None else read_rankings(inputs.heads)):
            hidden |= {} if source is None else hidden_places(source, labelled, catalogue)
    scores = inputs.scores
    return PreparedInputs(
        labelled,
        lists=judge(lists, inputs.ranks, labelled, counted, exhausted=catalogue is not None),
        unlabelled_lists={} if lists is None else count_unlabelled_lists(lists, labelled),
        scores={} if scores is None else align_scores(labelled, scores),
        sampled=sampled,
        sampled_scores={} if scores is None or sampled is None else align_scores(sampled, scores),
        left_out=left_out,
        products=_own_products(inputs, lists, measures),
        codes=inputs.codes or {},
        hidden=hidden,
        barred=barred,
        unlabelled=None if pooled is None else without_label(pooled, labelled),
        silent=0 if catalogue is None else catalogue.silent(labelled),
        scored=scores is not None,
    )


def _own_products(
    inputs: ScoringInputs, lists: RankedLists | None, measures: Sequence[Measure]
) -> dict[str, tuple[JudgedLists, pa.Array]]:
    """By model: the lists labelled by product, and the ids of their queries; nothing where no measure needs them."""
    products: dict[str, tuple[JudgedLists, pa.Array]] = {}
    images = inputs.images
    if lists is not None and images is not None and any(m.definition.needs == "product lists" for m in measures):
        item_of = dict(zip(images["image_id"], images["product_id"], strict=True))
        roles = "role" in images.columns
        gallery = images[images["role"] != "query"] if roles else images
        queries = unique_ids(images.loc[images["role"] != "candidate", "image_id"]) if roles else lists.queries
        own_lists = own_product_lists(lists, gallery, item_of, queries)
        products = {name: (judged, queries) for name, judged in own_lists.items()}
    if inputs.own_ranks is not None:
        judged_ranks = judge_own_product(inputs.own_ranks)
        products |= {name: (judged, inputs.own_ranks.queries) for name, judged in judged_ranks.items()}
    return products


def with_negatives(labelled: LabelledPairs, negatives: pd.DataFrame) -> tuple[LabelledPairs, int]:
    """LabelledPairs positives and drawn negatives over the same queries; and how many drawn ones were left out.

    Left out are pairs that are labelled here, those that were judged similar since (column `similar` of the negatives,
    if there is one), and those of queries without a label.
    """
    drawn = negatives.drop_duplicates(["query_id", "candidate_id"])
    known = encode(drawn["query_id"], labelled.queries) >= 0
    free = labelled.find_ids(drawn["query_id"], drawn["candidate_id"]) < 0
    if "similar" in drawn.columns:
        free &= ~drawn["similar"].to_numpy(dtype=bool)
    used = drawn.loc[known & free, ["query_id", "candidate_id"]]
    positives = labelled.select(labelled.value == 1).to_frame()
    rows = pd.concat([positives, used.assign(value=0)], ignore_index=True)
    return LabelledPairs.from_frame(rows, "sampled negatives", queries=labelled.queries), len(drawn) - len(used)


def _check_complete(inputs: ScoringInputs, measures: Sequence[Measure]) -> None:
    """Refuse measures whose inputs are missing, all at once."""
    if not measures:
        raise InputError("no measure is named", where="measures", hint="Name one, as RR@10, or a preset.")
    needs = {measure.definition.needs for measure in measures}
    on_lists = bool(needs & {"lists", "official lists"})
    no_lists = inputs.rankings is None
    missing = {
        "rankings are missing; measures on lists need them": on_lists and no_lists and inputs.ranks is None,
        "lists with the own product are missing; measures of recognition need them": (
            "product lists" in needs and no_lists and inputs.own_ranks is None
        ),
        "scores are missing; measures on scores need those of the labelled pairs": (
            "scores" in needs and inputs.scores is None
        ),
        "images are missing; products must be known": (
            bool(needs & {"official lists", "product lists"}) and inputs.images is None
        ),
        "grades are missing; measures on grades and codes need them counted": (
            bool(needs & {"codes", "graded"}) and inputs.codes is None
        ),
        "negatives are missing; negatives=sampled needs drawn pairs: eds suspects negatives": (
            inputs.negatives is None and any(measure.parameters.get("negatives") == "sampled" for measure in measures)
        ),
    }
    faults = [fault for fault, is_missing in missing.items() if is_missing]
    if faults:
        raise InputError("the measures cannot be computed", where="score", hint="Give what is missing:", faults=faults)
