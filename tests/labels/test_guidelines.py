"""Guidelines: a version says the same for ever, whoever tries; campaigns and judgements name it."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.audit import read_audit
from eds.labels.campaigns import Plan
from eds.labels.frames import labels_frame
from eds.labels.guidelines import (
    Example,
    guideline_named,
    guideline_of,
    list_guidelines,
    put_in_force,
    save_guideline,
)
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store
from tests.labels.stores import BACKENDS, begin, fresh_store

NASTY = "# <script>alert(1)</script> [x](javascript:alert(1)) $\\latex$ ünï👗\r\n\t'; DROP TABLE guideline; --"
EXAMPLES = (
    Example("q0", "c0-0", "positive", "the same cut"),
    Example("q0", "c0-1", "negative", NASTY),
    Example("q1", "c1-0", "border", "counts, just", 1),
    Example("q1", "c1-1", "border"),
)


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


def test_a_version_comes_back_as_it_was_saved(store: Store) -> None:
    save_guideline(store, "ünï 1", NASTY, EXAMPLES, by="lea")
    found = guideline_named(store, "ünï 1")
    assert (found.version, found.content, found.examples, found.created_by) == ("ünï 1", NASTY, EXAMPLES, "lea")
    assert [one.answer for one in found.examples] == [1, 0, 1, None]
    assert read_audit(store)[["actor", "act", "subject", "detail"]].to_numpy().tolist() == [
        ["lea", "save guideline", "ünï 1", '{"examples": 4}']
    ]


def test_a_version_never_changes(store: Store) -> None:
    save_guideline(store, "1", "text", EXAMPLES)
    save_guideline(store, "1", "text", EXAMPLES, by="again")  # the same words: nothing to do
    assert len(list_guidelines(store)) == 1
    for content, examples in (
        ("other", EXAMPLES),
        ("text", EXAMPLES[1:]),
        ("text", EXAMPLES[::-1]),
        ("text", (replace(EXAMPLES[0], note="other"), *EXAMPLES[1:])),
    ):
        with pytest.raises(InputError, match=r"already, and it says otherwise\. Versions are never changed"):
            save_guideline(store, "1", content, examples)
    for table in ("guideline", "example"):
        for statement in (f"UPDATE {table} SET id = id + 1", f"DELETE FROM {table}"):
            with pytest.raises(sa.exc.DBAPIError, match="append-only"):
                store.write(lambda c, s=statement: c.exec_driver_sql(s))  # type: ignore[misc]
    assert guideline_named(store, "1").examples == EXAMPLES


def test_two_who_save_one_name_at_once(store: Store) -> None:
    told: list[str] = []

    def save(content: str) -> None:
        try:
            save_guideline(store, "1", content)
        except InputError as error:
            told.append(str(error))

    threads = [threading.Thread(target=save, args=(content,)) for content in ("a", "b", "a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 2
    assert len(list_guidelines(store)) == 1
    assert guideline_named(store, "1").content in ("a", "b")


def test_campaigns_and_judgements_name_the_version_in_force(store: Store) -> None:
    name = begin(store, Plan("first", guideline="no text"))
    assert guideline_of(store, name) is None
    for version in ("1", "2"):
        save_guideline(store, version, f"text {version}", EXAMPLES[:1])
        put_in_force(store, name, version, by="lea")
        submit(store, "ann", [Judgement(version, next_batch(store, name, "ann")[0].assignment, 1)])
    assert labels_frame(store)["guideline"].tolist() == ["1", "2"]
    in_force = guideline_of(store, name)
    assert in_force is not None
    assert in_force.content == "text 2"
    listed = list_guidelines(store)[["version", "examples", "campaigns", "labels"]]
    assert listed.to_numpy().tolist() == [["1", 1, 0, 1], ["2", 1, 1, 1]]
    with pytest.raises(InputError, match="unknown guideline '3'"):
        put_in_force(store, name, "3")
    with pytest.raises(InputError, match="unknown campaign 'none'"):
        guideline_of(store, "none")


def test_faults_are_told_all_at_once(store: Store) -> None:
    bad = [
        Example("q", "q", "positive"),
        Example("", "c", "maybe"),
        Example("q", "c", "positive", value=0),
        Example("q", "c", "border", "x" * 20_000, 2),
    ]
    with pytest.raises(InputError) as told:
        save_guideline(store, "1", "text", bad)
    assert [fault.partition(":")[0] for fault in told.value.faults] == [
        "example 1",
        "example 2",
        "example 2",
        "example 3",
        "example 4",
        "example 4",
        "example 4",
    ]
    for version, content in (("", "text"), (" a", "text"), ("1", ""), ("1", "\0"), ("1", "x" * 200_000)):
        with pytest.raises(InputError, match="guideline"):
            save_guideline(store, version, content)
    with pytest.raises(InputError, match="at most 200"):
        save_guideline(store, "1", "text", [Example("q", f"c{i}", "positive") for i in range(201)])
    assert list_guidelines(store).empty
