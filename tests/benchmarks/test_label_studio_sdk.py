"""An export for Label Studio, put before its own SDK: in an environment of its own, for it needs another numpy."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eds.benchmarks.formats import label_studio
from tests.benchmarks.cases import benchmark
from tests.privileges import lacking

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-studio" / "bin" / "python"


def judged(folder: Path) -> Any:
    if not PYTHON.exists():
        lacking(f"{PYTHON.parents[1].name} with label-studio-sdk is not there: make test sets it up")
    judge = Path(__file__).with_name("label_studio_judge.py")
    done = subprocess.run([PYTHON, judge, folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_sdk_accepts_every_task_annotation_and_prediction(tmp_path: Path) -> None:
    given = benchmark()
    label_studio.write(given, tmp_path)
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    found = judged(tmp_path)
    assert found["refused"] == []
    assert found["tasks"] == len(tasks)
    for part in ("annotations", "predictions"):
        assert found[part] == sum(len(task[part]) for task in tasks) > 0


@pytest.mark.parametrize("part", ["annotations", "predictions"])
def test_the_sdk_would_refuse_an_answer_that_nobody_was_offered(tmp_path: Path, part: str) -> None:
    label_studio.write(benchmark(), tmp_path)
    file = tmp_path / "tasks.json"
    tasks = json.loads(file.read_text(encoding="utf-8"))
    spoiled = next(task for task in tasks if task[part])
    spoiled[part][0]["result"][0]["value"]["choices"] = ["perhaps"]
    file.write_text(json.dumps(tasks), encoding="utf-8")
    assert judged(tmp_path)["refused"] == [f"{part} of task {spoiled['id']}"]
