"""Studies of training: designs of heads over several seeds, and the effect of fine-tuning on recognition and discovery.

They test on your catalogue what the hashing papers claim for theirs; notebook 04 runs them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.errors import InputError
from eds.hashing.code_usage import code_usage
from eds.hashing.collisions import mlgap
from eds.hashing.ties import TiedLists, ap, ap_best, ap_worst
from eds.metrics.auc_report import auc_report
from eds.metrics.product_retrieval import identity_metrics
from eds.pairs import Integers
from eds.training.batches import split
from eds.training.code_score import RADIUS, tied_lists
from eds.training.hash_head import fit_hash_head
from eds.training.hash_objective import Design
from eds.training.plan import Plan
from eds.training.supervision import Supervision

Progress = Callable[[int, int], None]


def compare_heads(
    vectors: NDArray[np.float32],
    labels: Supervision,
    designs: Mapping[str, Design],
    plan: Plan,
    seeds: Sequence[int],
    folder: Path,
    *,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Fit every design with every seed (of split, weights and batches): a row each, with the values of `measure_codes`.

    `vectors` (items, dimension) in the order of `labels.ids`; runs are kept in `folder`, and a second call resumes.
    """
    rows = []
    for number, (name, seed) in enumerate((name, seed) for name in designs for seed in seeds):
        now = replace(plan, seed=seed)
        found = fit_hash_head(vectors, labels, designs[name], now, folder / f"{name}-{seed}", {"study": name})
        parts = split(labels, plan.validation_share, plan.test_share, seed)
        others = np.concatenate([parts.train, parts.validation])
        row = {"design": name, "seed": seed, "bits": designs[name].bits, "epochs": len(found.rows)}
        rows.append(row | measure_codes(found.head.codes(vectors), labels, parts.test, others))
        if progress:
            progress(number + 1, len(designs) * len(seeds))
    return pd.DataFrame(rows)


def measure_codes(
    codes: NDArray[np.int8], labels: Supervision, test_rows: Integers, others: Integers
) -> dict[str, float]:
    """Measures of codes (items, bits) of -1 and 1.

    `ap` (with the best and worst order of ties): test items among each other; `ap_others`, `mlgap`: test items as
    queries against the others, NaN if none has a similar one there. Usage is that of the others' codes, `one_code` the
    share of their similar pairs with the same code.
    """
    alike = tied_lists(codes, labels, others)
    among, against = tied_lists(codes, labels, test_rows), tied_lists(codes, labels, others, test_rows)
    asked = against.relevant > 0
    similar = labels.affinity(test_rows[asked], others) > 0
    usage = code_usage(codes[others])
    return {
        "ap": _mean(ap, among),
        "ap_best": _mean(ap_best, among),
        "ap_worst": _mean(ap_worst, among),
        "ap_others": _mean(ap, against),
        "mlgap": mlgap(codes[test_rows[asked]], codes[others], similar, RADIUS) if asked.any() else float("nan"),
        "one_code": float(alike.p[:, 0].sum() / alike.relevant.sum()),
        "distinct": usage["distinct"],
        "utilisation": usage["utilisation"],
        "entropy": usage["entropy_bits"],
    }


def spread(rows: pd.DataFrame, by: str = "design") -> pd.DataFrame:
    """Mean and standard deviation over seeds of every number, by design, in the order of the rows."""
    numbers = rows.drop(columns=["seed"]).groupby(by, sort=False)
    return numbers.agg(["mean", "std"])


def recognition_and_discovery(
    features: NDArray[np.float32], ids: Sequence[str], products: Sequence[str], truth: pd.DataFrame, k: int = 5
) -> dict[str, float]:
    """Compare recognition and discovery by the same vectors (items, dimension), by cosine.

    `recognition`: capped HR@k, for the other images of the query's own product. `discovery`: ROC-AUC,
    micro and macro, over `truth` (query_id, candidate_id, value), pairs of different products.
    """
    if not len(features) == len(ids) == len(products):
        raise InputError(f"{len(features)} vectors, {len(ids)} ids, {len(products)} products", where="study")
    unit = features.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    score = unit @ unit.T
    names: pd.Series[str] = pd.Series(list(ids), dtype="str")
    order = np.argsort(-(score - 4 * np.eye(len(score))), axis=1, kind="stable")[:, :k]
    lists = {
        "model": "m",
        "query_id": np.repeat(names.to_numpy(), k),
        "candidate_id": names.to_numpy()[order.ravel()],
        "rank": np.tile(np.arange(k), len(names)),
    }
    own = identity_metrics(pd.DataFrame(lists), dict(zip(ids, products, strict=True)), list(ids), [k])
    place = pd.Index(names)
    first, second = (place.get_indexer(pd.Index(truth[column])) for column in ("query_id", "candidate_id"))
    if (np.minimum(first, second) < 0).any():
        raise InputError("pairs of other images are judged", where="truth", hint="Use pairs of these images.")
    pairs = truth[["query_id", "candidate_id"]].assign(model="m", score=score[first, second])
    found: dict[str, Any] = auc_report(pairs, truth)
    return {
        "recognition": own[f"hr_capped@{k}"],
        "discovery": found["micro_roc_auc"],
        "discovery_macro": found["macro_roc_auc"],
    }


def _mean(measure: Callable[[TiedLists], NDArray[np.float64]], lists: TiedLists) -> float:
    """The mean over queries with a positive; NaN if there are none."""
    asked = lists.relevant > 0
    return float(measure(lists)[asked].mean()) if asked.any() else float("nan")
