"""Two servers over one database file: each judgement that either acknowledges is stored, once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eds.labels.frames import labels_frame
from tests.browser.annotator import running
from tests.speed.judging.load import Person
from tests.speed.judging.stage import prepare

EACH = 40  # judgements of a person


def test_two_servers_over_one_file_lose_nothing(tmp_path: Path) -> None:
    names = [f"expert {number}" for number in range(6)]
    project = prepare(tmp_path, names, pairs=60, size=32)
    with running(project, "--no-prepare") as one, running(project, "--no-prepare") as other:
        people = [Person(one if number % 2 else other, name) for number, name in enumerate(names)]
        with ThreadPoolExecutor(len(people)) as pool:
            done = list(pool.map(lambda person: [person.judge() for _ in range(EACH)], people))
        for person in people:
            person.connection.close()
        acknowledged = [token for tokens in done for token in tokens]
        stored = labels_frame(one.store)["label_id"].tolist()
    assert len(acknowledged) == EACH * len(names)
    assert sorted(stored) == sorted(acknowledged)
