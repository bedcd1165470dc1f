"""What MTEB prints of an exported folder for given vectors, as JSON: `python mteb_judge.py FOLDER VECTORS.npz`.

In a process of its own: mteb's and datasets' switches are read when they are imported. The vectors (arrays ids and
vectors) stand for a model; MTEB loads the folder, re-ranks and scores by itself. It rounds what it prints to five
decimals, so its own values by query are averaged here as well.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

MEANS = {
    "ndcg_cut": "ndcg_at",
    "map_cut": "map_at",
    "recall": "recall_at",
    "P": "precision_at",
    "success": "hit_rate_at",
}


def judge(folder: Path, vectors: Path) -> dict[str, dict[str, float]]:
    import mteb
    import torch
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import ModelMeta

    exact: dict[str, float] = {}

    class Exported(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name="Exported",
            description="An export.",
            dataset={"path": str(folder), "revision": "main"},
            type="Any2AnyRetrieval",
            category="i2i",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
            modalities=["image"],
        )

        def task_specific_scores(
            self, scores: Any, qrels: Any, results: Any, hf_split: str, hf_subset: str
        ) -> dict[str, float]:
            for theirs in next(iter(scores.values())):
                name, _, k = theirs.rpartition("_")
                exact[f"{MEANS[name]}_{k}"] = sum(one[theirs] for one in scores.values()) / len(scores)
            return {}

    held = np.load(vectors)
    rows = {name: row for row, name in enumerate(held["ids"].tolist())}
    known = torch.from_numpy(held["vectors"])

    class Held:
        mteb_model_meta = ModelMeta.create_empty({"name": "eds/held", "modalities": ["image"]})

        def encode(self, inputs: Any, **words: Any) -> Any:
            return torch.stack([known[rows[name]] for batch in inputs for name in batch["id"]])

        def similarity(self, first: Any, second: Any) -> Any:
            return first @ second.T

        def similarity_pairwise(self, first: Any, second: Any) -> Any:
            return (first * second).sum(dim=1)

    result = mteb.evaluate(Held(), Exported(), cache=None, overwrite_strategy="always", show_progress_bar=False)
    printed = result.task_results[0].scores["test"][0]
    return {"printed": {name: value for name, value in printed.items() if isinstance(value, float)}, "exact": exact}


if __name__ == "__main__":
    answer = judge(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
