"""Votes that come into a project which has a label store with several campaigns: all of them, or a clear refusal."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels.audit import noted, read_audit
from eds.labels.frames import labels_frame
from eds.labels.store import open_store
from eds.project import Project

ROWS = "query_id,candidate_id,expert_id,value,campaign\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two campaigns are judged here already."""
    made = Project.create(tmp_path / "p")
    (tmp_path / "qrels.txt").write_text("q 0 c 1\nq 0 d 0\nq 0 e 0\n")
    made.import_benchmark("trec", qrels=tmp_path / "qrels.txt")
    (tmp_path / "v.csv").write_text(f"{ROWS}q,c,ann,1,one\nq,d,ann,0,two\n")
    made.import_benchmark("votes", tmp_path / "v.csv")
    return made


def acts(project: Project) -> list[tuple[Any, ...]]:
    with closing(open_store(project.path("labels"), create=False)) as store:
        told = [
            labels_frame(store, campaign=name).assign(campaign=name)
            for name in ("one", "two", "three")
            if name != "three" or "three" in set(read_audit(store)["subject"])
        ]
    rows = pd.concat(told)[["campaign", "query_id", "candidate_id", "expert_id", "value"]]
    return sorted(rows.itertuples(index=False, name=None))


def test_several_campaigns_come_into_a_store_that_has_several(project: Project, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text(f"{ROWS}q,e,ann,0,one\nq,d,bob,1,two\nq,c,bob,1,three\nq,c,ann,1,one\n")
    result = project.import_benchmark("votes", tmp_path / "more.csv")
    assert result.votes == 3
    stored = f"{tmp_path / 'more.csv'}: 1 votes were in the label store already: each counts once"
    assert stored in result.notes
    assert acts(project) == [
        ("one", "q", "c", "ann", 1),
        ("one", "q", "e", "ann", 0),
        ("three", "q", "c", "bob", 1),
        ("two", "q", "d", "ann", 0),
        ("two", "q", "d", "bob", 1),
    ]
    with closing(open_store(project.path("labels"), create=False)) as store:
        log = read_audit(store)
        tokens = {json.loads(detail)["token"] for detail in log.loc[log["act"] == "import votes", "detail"]}
        assert len(tokens) == 2
        assert all(noted(store, "import votes", token) for token in tokens)
        assert not noted(store, "import votes", "0" * 32)


def test_a_contradiction_in_one_campaign_keeps_all_out(project: Project, tmp_path: Path) -> None:
    before, truth = acts(project), project.path("truth").read_bytes()
    (tmp_path / "bad.csv").write_text(f"{ROWS}q,e,ann,0,one\nq,d,ann,1,two\n")
    with pytest.raises(InputError, match=r"bad.csv: row 1: .* is stored, and says otherwise"):
        project.import_benchmark("votes", tmp_path / "bad.csv")
    assert acts(project) == before
    assert project.path("truth").read_bytes() == truth
    assert not (project.root / ".eds" / "transaction").exists()
