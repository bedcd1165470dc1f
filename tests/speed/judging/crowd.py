"""People judging without browsers, in a process of their own: PROJECT PORT SECONDS [full]. Says what they saw."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from eds.labels.experts import list_experts
from eds.labels.frames import labels_frame
from eds.project import Project
from tests.browser.annotator import Annotator, store_of
from tests.speed.judging.load import Person
from tests.speed.judging.stage import PAIRS


def main() -> None:
    """Judge at one label a second each, or as fast as possible."""
    root, port, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    full = "full" in sys.argv
    project = Project.open(root)
    with store_of(project) as store:
        annotator = Annotator(project, store, [])
        annotator.port, annotator.url = port, f"http://127.0.0.1:{port}"
        names = [name for name in list_experts(store)["name"] if name != "ann"]
        people = [Person(annotator, name) for name in names]
        print("ready", flush=True)
        gate = threading.Barrier(len(people))
        tokens: list[list[str]] = []
        waits: list[list[float]] = []

        def work(place: int) -> None:
            person, mine, took = people[place], [], []
            gate.wait()
            if not full:
                time.sleep(place / len(people))
            deadline, due = time.monotonic() + seconds, time.monotonic()
            while time.monotonic() < deadline:
                start = time.perf_counter()
                mine.append(person.judge())
                took.append(1000 * (time.perf_counter() - start))
                if not full:
                    if person.turn % 10 == 0:
                        person.look()
                    due += 1
                    time.sleep(max(0.0, due - time.monotonic()))
            tokens.append(mine)
            waits.append(took)

        with ThreadPoolExecutor(len(people)) as pool:
            list(pool.map(work, range(len(people))))
        sent = sorted(token for part in tokens for token in part)
        found = labels_frame(store, campaign=PAIRS)
        stored = sorted(found.loc[found["expert_id"] != "ann", "label_id"])
        both = np.concatenate([np.array(part) for part in waits])
        size = sum(person.bytes for person in people) / len(sent)
        print(
            f"{len(people)} people, {len(sent) / seconds:,.0f} labels/s, submit median {np.median(both):.1f} ms, "
            f"p95 {np.percentile(both, 95):.1f}; lost or doubled: {'none' if sent == stored else 'SOME'}; "
            f"{size:.0f} bytes of content a label besides pictures"
        )


if __name__ == "__main__":
    main()
