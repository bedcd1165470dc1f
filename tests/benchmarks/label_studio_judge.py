"""What Label Studio's own SDK says of an exported folder, as JSON: `python label_studio_judge.py FOLDER`.

Run by the SDK's environment (`make test` sets it up), in which nothing of eds is. The SDK's `validate_task` is
not asked: in 2.1.2 it fails on every task that has an annotation, since it calls a check without its argument.
"""

import json
import sys
from pathlib import Path


def judge(folder: Path) -> dict[str, object]:
    """Counts of what was accepted, and where the SDK refused something."""
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface((folder / "config.xml").read_text(encoding="utf-8"))
    interface.validate()
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    refused = [f"task {task['id']}" for task in tasks if not interface.validate_task({"data": task["data"]})]
    parts = {"annotations": interface.validate_annotation, "predictions": interface.validate_prediction}
    counts = {}
    for part, accepts in parts.items():
        found = [(task["id"], one) for task in tasks for one in task[part]]
        counts[part] = len(found)
        refused += [f"{part} of task {number}" for number, one in found if not accepts(one)]
    return {"tasks": len(tasks), **counts, "refused": refused}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(judge(Path(sys.argv[1]))))
