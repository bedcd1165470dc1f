"""The cells of Tables 1 to 8 for one task, by sets and loops from vectors and labels. Slow."""

import hashlib
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from tests.reference.analysis import leave_one_out
from tests.reference.metrics import Labels, four_aucs, official_loops

MAKERS = {"argus": "AS", "dino": "DINO", "beit": "BEiT", "clip": "CLIP", "argus_id": "ID", "argus_id_c": "ID+C"}
AUCS = {f"{area}_{side}": f"{side}_{area.lower()}_auc" for area in ("ROC", "PR") for side in ("micro", "macro")}


class Slow:
    """One task: who asks, what is offered, what was judged, and the models' vectors by path."""

    def __init__(
        self,
        vectors: Mapping[str, Mapping[str, Any]],
        product: Mapping[str, str],
        queries: Sequence[str],
        gallery: Sequence[str],
        labels: Labels,
    ) -> None:
        self.vectors, self.product, self.queries, self.gallery, self.labels = vectors, product, queries, gallery, labels

    def score(self, model: str, query: str, candidate: str) -> float:
        a, b = (self.vectors[model][name].astype(np.float64) for name in (query, candidate))
        return round(float(a @ b) / math.sqrt(float(a @ a) * float(b @ b)), 12)

    def whole(self, model: str, query: str) -> list[str]:
        others = [name for name in self.gallery if name != query]
        return sorted(others, key=lambda name: (-self.score(model, query, name), name))

    def official(self, model: str, query: str) -> list[str]:
        best: dict[str, str] = {}
        for name in self.whole(model, query):
            if self.product[name] != self.product[query]:
                best.setdefault(self.product[name], name)
        return list(best.values())

    def columns(self, model: str) -> dict[str, float]:
        """The twelve columns of Tables 5 and 6."""
        lists = {query: self.official(model, query)[:9] for query in self.queries}
        found: dict[str, float] = {}
        for k in (5, 9):
            found[f"HR@{k}"], found[f"MRR@{k}"] = official_loops(lists, self.labels, k)
        positives = [one for one in self.labels if one[2] == 1]
        asked = {query for query, _, _ in self.labels}
        drawn = [(query, name, 0) for query in self.queries if query in asked for name in self.negatives(query)]
        for side, labels in (("anno", self.labels), ("neg", [*positives, *drawn])):
            told = four_aucs(self.scores(model, labels), labels)
            found |= {f"{column}_{side}": told[name] for column, name in AUCS.items()}
        return {name: 100 * value for name, value in found.items()}

    def scores(self, model: str, labels: Labels) -> list[tuple[str, str, float]]:
        return [(query, name, self.score(model, query, name)) for query, name, _ in labels]

    def negatives(self, query: str) -> list[str]:
        lists = {model: self.official(model, query) for model in MAKERS}
        window = {name for one in lists.values() for name in one[100:500]}
        top = {name for one in lists.values() for name in one[:100]}
        judged = {name for asked, name, _ in self.labels if asked == query}
        key = {name: hashlib.sha256(f"0\x1f{query}\x1f{name}".encode()).hexdigest() for name in window - top - judged}
        return sorted(key, key=lambda name: key[name])[:5]

    def overlap(self, a: str, b: str, k: int) -> float:
        shared = sum(len({*self.official(a, query)[:k]} & {*self.official(b, query)[:k]}) for query in self.queries)
        return 100 * shared / (k * len(self.queries))

    def left_out(self, average: str, k: int) -> dict[str, tuple[float, float, float, float]]:
        """By evaluated model mean and deviation of its AUC over the six reduced pools; by removed model rho and p."""
        lists = {model: {query: self.official(model, query)[:k] for query in self.queries} for model in MAKERS}
        scores = {model: self.scores(model, self.labels) for model in MAKERS}
        told = leave_one_out(lists, self.labels, scores, f"{average}_roc_auc", "unique")
        by_model = {model: [100 * row[model] for row in told.values()] for model in MAKERS}
        full = [four_aucs(scores[model], self.labels)[f"{average}_roc_auc"] for model in MAKERS]
        kept = {model: spearmanr(full, [told[model][other] for other in MAKERS]) for model in MAKERS}
        return {
            model: (statistics.fmean(row), statistics.pstdev(row), kept[model].statistic, kept[model].pvalue)
            for model, row in by_model.items()
        }

    def recognition(self, model: str, k: int) -> tuple[float, float]:
        """HR capped by how many other pictures there are, MRR over all slots."""
        hits = most = count = 0
        gain = 0.0
        for query in self.queries:
            own = {name for name in self.gallery if name != query and self.product[name] == self.product[query]}
            if own:
                places = [place for place, name in enumerate(self.whole(model, query)[:k], 1) if name in own]
                hits, most, count = hits + len(places), most + min(k, len(own)), count + 1
                gain += sum(1 / place for place in places)
        harmonic = sum(1 / place for place in range(1, k + 1))
        return 100 * hits / most, 100 * gain / (harmonic * count)
