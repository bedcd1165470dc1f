"""Hash models go the whole way by the same commands as others: lists, pool, overlap, AUC, report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds import tables
from eds.cli import cli
from eds.errors import InputError
from eds.project import Project
from eds.suspects import sources_frame
from eds.vectors import Model, pack, write

BITS = {"coarse": 6, "fine": 40}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Sixty images of twenty products; two hash models and one of cosine, all of them near the same truth."""
    project = Project.create(tmp_path / "p", {"neighbors.k": 5, "suspects.k": 5})
    draw = np.random.default_rng(3)
    names = [f"i{n:02d}" for n in range(60)]
    images = pd.DataFrame({"image_id": names, "path": names, "product_id": [f"p{n // 3}" for n in range(60)]})
    images["role"] = ["both" if n % 5 == 0 else "candidate" for n in range(60)]
    images["category"] = [f"c{n % 4}" for n in range(60)]
    for column in tables.IMAGES.columns:
        if column.name not in images:
            images[column.name] = pd.array([pd.NA] * 60, "Int64") if column.kind == "integer" else None
    project.write(images[tables.IMAGES.names], "images", tables.Provenance("test"))
    base = draw.standard_normal((60, 40))
    for name, bits in BITS.items():
        model = Model(name, {"loader": "test"}, bits, "bits", "hamming", "", "")
        write(project.path("embeddings", name), model, names, pack(base[:, :bits]))
    numbers = Model("numbers", {"loader": "test"}, 40, "float32", "cosine", "", "")
    write(project.path("embeddings", "numbers"), numbers, names, base.astype(np.float32))
    return project


def run(project: Project, *words: str) -> Any:
    result = CliRunner().invoke(cli, [*words, "-p", str(project.root), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_lists_of_codes_keep_whole_ties_unless_told_otherwise(project: Project) -> None:
    run(project, "neighbors", "mine")
    lists = {name: project.read("neighbors", name) for name in (*BITS, "numbers")}
    assert lists["numbers"].groupby("query_id").size().eq(5).all()
    for name in BITS:
        for _, part in lists[name].groupby("query_id"):
            fifth = part["score"].iloc[4]
            assert (part["score"].iloc[5:] == fifth).all()
    assert lists["coarse"].groupby("query_id").size().gt(5).any()
    run(project, "neighbors", "mine", "--no-keep-ties")
    cut = project.read("neighbors", "coarse")
    first = lists["coarse"][lists["coarse"]["rank"] < 5].reset_index(drop=True)
    pd.testing.assert_frame_equal(cut, first)
    assert project.state("neighbors", "coarse").made_by == "eds neighbors mine --no-keep-ties"


def test_pool_overlap_scores_and_report(project: Project) -> None:
    run(project, "neighbors", "mine")
    run(project, "suspects", "pool")
    suspects = project.read("suspects")
    pooled = {
        (row.query_id, row.candidate_id)
        for name in (*BITS, "numbers")
        for row in project.read("neighbors", name).itertuples()  # of codes with the whole tie at place 5
    }
    assert set(zip(suspects["query_id"], suspects["candidate_id"], strict=True)) == pooled
    overlap = run(project, "analysis", "overlap")["result"]
    assert all(name in json.dumps(overlap) for name in BITS)
    pairs = suspects[["query_id", "candidate_id"]].drop_duplicates().reset_index(drop=True)
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    value = np.random.default_rng(0).integers(0, 2, len(pairs))
    truth = pairs.assign(value=value, **votes, tie=False, rule="majority")
    project.write(truth[tables.TRUTH.names], "truth", tables.Provenance("truth.decide"))
    run(project, "metrics", "score", "--measure", "ROC-AUC", "--measure", "APt@5(grades=category)")
    scores = project.read("scores")
    assert set(scores.loc[scores["measure"].str.startswith("ROC"), "model"]) == {*BITS, "numbers"}
    run(project, "reports", "write")
    page = (project.root / "report.html").read_text()
    assert all(name in page for name in BITS)


def test_the_pool_splits_no_tie_group_of_codes_unless_told_to(project: Project) -> None:
    """Deep lists, a shallow pool: the cut through them is the pool's own."""
    run(project, "neighbors", "mine", "-k", "20")
    told = run(project, "suspects", "pool", "-k", "3")
    assert told["whole_ties"] == sorted(BITS)
    sources = sources_frame(project.read("suspects"))
    sizes = {}
    for name in (*BITS, "numbers"):
        lists = project.read("neighbors", name)
        third = lists[lists["rank"] == 2].set_index("query_id")["score"]
        near = lists[lists["score"] >= lists["query_id"].map(third)]
        mine = sources[sources["model"] == name]
        key = ["query_id", "candidate_id"]
        assert set(map(tuple, mine[key].to_numpy())) == set(map(tuple, near[key].to_numpy()))
        sizes[name] = len(mine)
        better = [
            (lists["query_id"].eq(q) & lists["score"].gt(s)).sum() for q, s in near[["query_id", "score"]].to_numpy()
        ]
        ranks = dict(zip(map(tuple, near[key].to_numpy()), better, strict=True))
        assert {(q, c): r for _, q, c, r in mine.to_numpy()} == ranks
    assert sizes["numbers"] == 3 * 12 < sizes["coarse"]
    assert told["overlap"]["raw"] == sum(sizes.values())
    assert told["overlap"]["unique"] == told["size"] == told["growth"][2]["size"]
    assert run(project, "analysis", "overlap", "-k", "3")["result"]["unique"] == told["size"]
    assert run(project, "suspects", "growth", "--k-max", "3")["growth"] == told["growth"][:3]
    for executor in ("serial", "processes"):
        project.path("suspects").unlink()
        assert run(project, "suspects", "pool", "-k", "3", "--executor", executor)["size"] == told["size"]
    project.path("suspects").unlink()
    cut = run(project, "suspects", "pool", "-k", "3", "--no-keep-ties")
    assert cut["whole_ties"] == []
    assert cut["overlap"]["raw"] == 3 * 12 * 3
    assert project.state("suspects").made_by == "eds suspects pool -k 3 --no-keep-ties"


def test_lists_that_were_cut_by_id_within_the_group_are_refused(project: Project) -> None:
    run(project, "neighbors", "mine", "-k", "5", "--no-keep-ties")
    with pytest.raises(InputError, match="tie with the 5th were cut off by id") as caught:
        CliRunner().invoke(cli, ["suspects", "pool", "-k", "5", "-p", str(project.root)], catch_exceptions=False)
    assert any("lists of model coarse end at depth 5" in fault for fault in caught.value.faults)
    assert run(project, "suspects", "pool", "-k", "5", "--no-keep-ties")["overlap"]["raw"] == 3 * 12 * 5
