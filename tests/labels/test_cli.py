"""`eds labels` from the first account to a restored backup."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli.labels import labels
from eds.errors import EdsError
from eds.labels.adjudication import adjudications
from eds.labels.frames import labels_frame
from eds.labels.judgements import flag_task
from eds.labels.migrate import newest
from eds.labels.queue import next_batch
from eds.labels.store import open_store
from eds.project import Project
from eds.tables import SUSPECTS, Provenance
from tests.labels.stores import judge_all


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.create(tmp_path / "project")
    suspects = (
        SUSPECTS.empty()
        .reindex(range(6))
        .assign(
            query_id="q",
            candidate_id=[f"c{i}" for i in range(6)],
            origin=["pool"] * 4 + ["random"] * 2,
            batch=0,
            position=range(6),
            probability=1.0,
        )
    )
    made.write(suspects, "suspects", Provenance("test"))
    return made


def run(project: Project, *words: str) -> Any:
    done = CliRunner().invoke(labels, [*words, "-p", str(project.root), "--json"])
    if done.exception is not None:
        raise done.exception
    return json.loads(done.stdout)


def test_a_campaign_from_accounts_to_backup(project: Project, tmp_path: Path) -> None:
    with pytest.raises(EdsError, match="there are no labels yet"):
        run(project, "status")
    for name, role in (("ann", "lead"), ("bob", "expert")):
        told = run(project, "experts", "add", name, "--role", role)
        assert len(told["invitation"]) > 40
    assert run(project, "experts", "invite", "bob")["hours"] == 72
    assert [row["state"] for row in run(project, "experts", "list")] == ["invited", "invited"]
    rows = run(
        project,
        "campaigns",
        "add",
        "pool",
        "--origin",
        "pool",
        "--expert",
        "ann",
        "--expert",
        "bob",
        "--mode",
        "grid",
        "--polarity",
        "similar",
    )
    assert [(row["expert"], row["total"], row["left"]) for row in rows] == [
        ("ann", 5, 5),
        ("bob", 5, 5),
    ]  # one of them again
    store = open_store(project.path("labels"))
    judge_all(store, "pool", "ann")
    before = labels_frame(store)
    store.close()
    assert [row["done"] for row in run(project, "status", "--campaign", "pool")] == [5, 0]
    assert run(project, "campaigns", "list")[0]["polarity"] == "similar"
    votes, backup = str(tmp_path / "v.jsonl"), str(tmp_path / "b.zip")
    assert run(project, "export", votes)["judgements"] == 5
    assert run(project, "export", votes, "--as-of", "2001-01-01")["judgements"] == 0
    assert run(project, "export", votes)["judgements"] == 5
    again = run(project, "import", votes, "--campaign", "pool")
    assert [again[name] for name in ("added", "already", "repeated", "dropped")] == [0, 5, 0, ["campaign"]]
    assert run(project, "imports", "list") == []
    assert run(project, "backup", backup)["tables"]["label_event"]["rows"] == 5
    assert run(project, "campaigns", "close", "pool")["closed"]
    assert run(project, "experts", "disable", "bob")["disabled"]
    assert not run(project, "experts", "enable", "bob")["disabled"]
    with pytest.raises(EdsError, match="there are labels already"):
        run(project, "restore", backup)
    assert run(project, "restore", backup, "--replace")["schema"] == newest()
    assert Path(run(project, "upgrade")["backup"]).exists()
    store = open_store(project.path("labels"))
    assert labels_frame(store).equals(before)
    store.close()


def test_flags_are_resolved_and_a_lead_decides(project: Project) -> None:
    for name, role in (("ann", "expert"), ("lea", "lead")):
        run(project, "experts", "add", name, "--role", role)
    run(project, "campaigns", "add", "pool", "--expert", "ann")
    store = open_store(project.path("labels"))
    task, other = next_batch(store, "pool", "ann", 2)
    for token in ("one", "two"):
        flag_task(store, "ann", task.assignment, "a shoe", token)
    (first, second) = run(project, "flags", "list", "--campaign", "pool")
    assert (first["candidate_id"], first["expert"], first["reason"]) == (task.candidate_id, "ann", "a shoe")
    assert run(project, "flags", "resolve", str(first["flag"])) == {
        "flag": first["flag"],
        "resolved": True,
        "already": False,
    }
    assert run(project, "flags", "resolve", str(first["flag"]), "--by", "lea")["already"]
    run(project, "flags", "resolve", str(second["flag"]), "--again", "--by", "lea")
    assert run(project, "flags", "list") == []
    assert task.assignment in [one.assignment for one in next_batch(store, "pool", "ann", 9)]
    words = ["adjudicate", "q", other.candidate_id, "--campaign", "pool", "--by", "lea"]
    made = run(project, *words, "--value", "different", "--note", "sleeves")
    assert adjudications(store)[["label_id", "value", "note"]].to_numpy().tolist() == [[made["label_id"], 0, "sleeves"]]
    run(project, *words, "--value", "withdrawn")
    assert adjudications(store).empty
    shown = CliRunner().invoke(labels, ["experts", "list", "-p", str(project.root)], catch_exceptions=False).stdout
    assert re.search(r"ann +expert +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d +invited +0\b", shown)
    store.close()


def test_the_audit_tells_who_did_what_to_whom(project: Project) -> None:
    with pytest.raises(EdsError, match="there are no labels yet"):
        run(project, "audit")
    run(project, "experts", "add", "ann", "--role", "lead")
    run(project, "campaigns", "add", "pool", "--origin", "pool", "--expert", "ann")
    run(project, "experts", "disable", "ann")
    told = run(project, "audit")
    acts = [(row["act"], row["subject"]) for row in told]
    assert acts[0] == ("add expert", "ann")
    assert acts[-1] == ("disable", "ann")
    assert ("create campaign", "pool") in acts
    assert {row["actor"] for row in told} == {"command line"}
    assert [row["created_at"] for row in told] == sorted(row["created_at"] for row in told)
    shown = CliRunner().invoke(labels, ["audit", "-p", str(project.root)]).stdout
    assert len(shown.splitlines()) == 1 + len(told)


def test_a_relative_address_counts_from_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDS_LABELS_URL", "sqlite:///kept/here.db")
    run(project, "experts", "add", "ann")
    assert (project.root / "kept" / "here.db").exists()
    assert [state.path for state in Project.open(project.root).states() if state.table == "labels"] == ["labels"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("experts", "disable", "eve"), "unknown expert 'eve'"),
        (("experts", "add", " "), "cannot be a name"),
        (("campaigns", "close", "none"), "unknown campaign 'none'"),
        (("status", "--campaign", "none"), "unknown campaign 'none'"),
        (("flags", "list", "--campaign", "none"), "unknown campaign 'none'"),
        (("campaigns", "add", "c", "--expert", "eve"), "unknown expert 'eve'"),
        (("campaigns", "add", "c", "--expert", "ann", "--origin", "gold"), "no suspects are of that origin"),
        (
            ("campaigns", "add", "c", "--expert", "ann", "--gold-share", "0.5"),
            "gold pairs are to be mixed in, 0 are known",
        ),
        (("export", "v.xls"), "is not a format"),
        (("export", "v.csv", "--as-of", "soon"), "invalid time"),
    ],
)
def test_what_is_wrong_is_told(project: Project, words: tuple[str, ...], told: str) -> None:
    run(project, "experts", "add", "ann")
    with pytest.raises(EdsError, match=told):
        run(project, *words)


def test_guidelines_calibration_and_gold(project: Project, tmp_path: Path) -> None:
    run(project, "experts", "add", "ann")
    text, examples, known = tmp_path / "similar.md", tmp_path / "examples.csv", tmp_path / "known.csv"
    text.write_text("# Similar\nthe same cut", encoding="utf-8")
    examples.write_text("query_id,candidate_id,kind,value,note\nq,yes,positive,,cut\nq,no,negative,0,\nq,so,border,,\n")
    assert run(project, "guideline", "save", "1", str(text), "--examples", str(examples))["examples"] == 3
    told = run(project, "guideline", "show", "1")
    assert told["content"] == "# Similar\nthe same cut"
    assert [tuple(one.values()) for one in told["examples"]] == [
        ("q", "yes", "positive", "cut", None),
        ("q", "no", "negative", "", None),
        ("q", "so", "border", "", None),
    ]
    with pytest.raises(EdsError, match="says otherwise"):
        run(project, "guideline", "save", "1", str(text))
    run(project, "campaigns", "add", "pool", "--origin", "pool", "--expert", "ann")
    assert run(project, "guideline", "enforce", "1", "--campaign", "pool")["guideline"] == "1"
    assert [(row["version"], row["campaigns"]) for row in run(project, "guideline", "list")] == [("1", 1)]
    assert run(project, "calibration", "plan", "pool", "--pairs", "2")["needed"] == 0.8
    assert run(project, "calibration", "list", "pool") == []
    known.write_text("query_id,candidate_id,value\nq,n1,0\nq,n2,0\nq,p1,1\n")
    assert run(project, "gold", "add", str(known)) == {"added": 3, "known": 3}
    assert run(project, "gold", "add", str(known))["added"] == 0
    assert [row["value"] for row in run(project, "gold", "list")] == [0, 0, 1]
    words = ("campaigns", "add", "grid", "--origin", "pool", "--expert", "ann", "--mode", "grid")
    rows = run(project, *words, "--polarity", "similar", "--gold-share", "0.5")
    assert [row["total"] for row in rows] == [4 + 2 + 1]  # and one of the four again
    run(project, "campaigns", "add", "usual", *words[3:], "--polarity", "similar")
    usual = {row["name"]: (row["gold_share"], row["repeat_share"]) for row in run(project, "campaigns", "list")}
    assert usual == {"pool": (0, 0), "grid": (0.5, 0.05), "usual": (0.05, 0.05)}
    for guard in ("--gold-share", "--repeat-share"):
        with pytest.raises(EdsError, match="a grid is guarded"):
            run(project, "campaigns", "add", "bare", *words[3:], "--polarity", "similar", guard, "0")
    bad = tmp_path / "latin.md"
    bad.write_bytes(b"\xff")
    with pytest.raises(EdsError, match="UTF-8"):
        run(project, "guideline", "save", "2", str(bad))
    examples.write_text("query_id,candidate_id,kind,value\nq,yes,positive,2\n")
    with pytest.raises(EdsError, match="cannot mean"):
        run(project, "guideline", "save", "2", str(text), "--examples", str(examples))
    examples.write_text("query_id,candidate_id\nq,yes\n")
    with pytest.raises(EdsError, match="missing columns: kind"):
        run(project, "guideline", "save", "2", str(text), "--examples", str(examples))


def test_gold_among_the_suspects_is_known_and_fits_the_grid(project: Project) -> None:
    suspects = project.read("suspects")
    gold = suspects.head(3).assign(
        candidate_id=["g0", "g1", "g2"], origin="gold", stratum=["gold:0", "gold:1", "gold:0"]
    )
    project.write(pd.concat([suspects, gold.assign(position=range(6, 9))]), "suspects", Provenance("test"))
    run(project, "experts", "add", "ann")
    rows = run(project, "campaigns", "add", "grid", "--expert", "ann", "--mode", "grid", "--polarity", "similar")
    assert [row["total"] for row in rows] == [6 + 2 + 1]
    assert [(row["candidate_id"], row["value"]) for row in run(project, "gold", "list")] == [
        ("g0", 0),
        ("g1", 1),
        ("g2", 0),
    ]
    assert [row["total"] for row in run(project, "campaigns", "add", "pairs", "--expert", "ann")] == [6 + 3]
