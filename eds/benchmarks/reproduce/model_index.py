"""Results as hubs and leaderboards read them: `model-index` of a model card, and `.eval_results/`.

model-index:
- name: dino
  results:
  - task: {type: image-feature-extraction, name: ...}
    dataset: {name: ..., type: vsd-benchmark/vsd-fashion, config: TASK, split: test}
    metrics:
    - {type: HR@5, value: 91.9, name: ...}

.eval_results/vsd-fashion-hr-5.yaml, a file for each measure, since an entry holds one value and no name for it:

- dataset: {id: vsd-benchmark/vsd-fashion, task_id: TASK}
  value: 91.9
  notes: HR@5 (VSD-HR@5)
"""

import math
import re
from collections.abc import Mapping, Sequence

from eds.benchmarks.card import quote

DATASET, TYPE = "VSD-Fashion", "vsd-benchmark/vsd-fashion"
KIND = "image-feature-extraction"

Metric = tuple[str, float, str]  # type as the leaderboard names it, value, our measure


def model_index(model: str, results: Mapping[str, Sequence[Metric]]) -> str:
    """Return the YAML of one model: a result for each task, without undefined metrics; values as on the leaderboard.

    >>> print(model_index("dino", {"some_task": [("HR@5", 91.9, "VSD-HR@5")]}).splitlines()[-1])
        - {"type": "HR@5", "value": 91.9, "name": "VSD-HR@5"}
    """
    lines = ["model-index:", f"- name: {quote(model)}", "  results:"]
    for task, metrics in results.items():
        defined = _defined(metrics)
        if not defined:
            continue
        dataset = {"name": DATASET, "type": TYPE, "config": task, "split": "test"}
        lines += [f"  - task: {quote({'type': KIND, 'name': 'Visual similarity discovery'})}"]
        lines += [f"    dataset: {quote(dataset)}", "    metrics:"]
        lines += [f"    - {quote({'type': kind, 'value': value, 'name': name})}" for kind, value, name in defined]
    return "\n".join(lines) + "\n"


def eval_results(results: Mapping[str, Sequence[Metric]]) -> dict[str, str]:
    """Return the files of one model's folder `.eval_results/`: an entry for each task, without undefined metrics.

    >>> files = eval_results({"some_task": [("HR@5", 91.9, "VSD-HR@5")]})
    >>> print(files["vsd-fashion-hr-5.yaml"].splitlines()[0])
    - dataset: {"id": "vsd-benchmark/vsd-fashion", "task_id": "some_task"}
    """
    files: dict[str, list[str]] = {}
    for task, metrics in results.items():
        for kind, value, name in _defined(metrics):
            lines = files.setdefault(f"vsd-fashion-{re.sub(r'[^a-z0-9]+', '-', kind.lower()).strip('-')}.yaml", [])
            lines.append(f"- dataset: {quote({'id': TYPE, 'task_id': task})}")
            lines += [f"  value: {quote(value)}", f"  notes: {quote(f'{kind} ({name})')}"]
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def _defined(metrics: Sequence[Metric]) -> list[Metric]:
    return [metric for metric in metrics if math.isfinite(metric[1])]
