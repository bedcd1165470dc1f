"""Results for a model card: the YAML `model-index` that hubs and the benchmark's leaderboard read.

model-index:
- name: dino
  results:
  - task: {type: image-feature-extraction, name: ...}
    dataset: {name: ..., type: vsd-benchmark/vsd-fashion, config: TASK, split: test}
    metrics:
    - {type: HR@5, value: 91.9, name: ...}
"""

import math
from collections.abc import Mapping, Sequence

from eds.benchmarks.card import quoted

DATASET, TYPE = "VSD-Fashion", "vsd-benchmark/vsd-fashion"
KIND = "image-feature-extraction"

Metric = tuple[str, float, str]  # type as the leaderboard names it, value, our measure


def model_index(model: str, results: Mapping[str, Sequence[Metric]]) -> str:
    """The YAML of one model: a result for each task, undefined metrics left out; values as the leaderboard has them.

    >>> print(model_index("dino", {"some_task": [("HR@5", 91.9, "VSD-HR@5")]}).splitlines()[-1])
        - {"type": "HR@5", "value": 91.9, "name": "VSD-HR@5"}
    """
    lines = ["model-index:", f"- name: {quoted(model)}", "  results:"]
    for task, metrics in results.items():
        defined = [one for one in metrics if math.isfinite(one[1])]
        if not defined:
            continue
        told = {"name": DATASET, "type": TYPE, "config": task, "split": "test"}
        lines += [f"  - task: {quoted({'type': KIND, 'name': 'Visual similarity discovery'})}"]
        lines += [f"    dataset: {quoted(told)}", "    metrics:"]
        lines += [f"    - {quoted({'type': kind, 'value': value, 'name': name})}" for kind, value, name in defined]
    return "\n".join(lines) + "\n"
