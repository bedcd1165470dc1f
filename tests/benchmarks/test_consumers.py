"""Every export is read by those it is for, and gives them the numbers that it gives us.

Label Studio's SDK needs another numpy than we do: see test_label_studio_sdk.py.
"""

import gzip
import json
import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.benchmarks.benchmark import Benchmark
from eds.benchmarks.formats import croissant, hf, trec
from eds.cli import cli
from eds.project import Project
from eds.suspects import benchmark_labels
from eds.tables import Provenance
from tests.benchmarks.cases import NAMES, benchmark, same
from tests.metrics.ranx_peer import interpreted_ranx


def run(*words: Any) -> Any:
    """A command's JSON answer."""
    done = CliRunner().invoke(cli, [*map(str, words), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def exported(tmp_path: Path) -> tuple[Benchmark, Path]:
    given = benchmark(tmp_path / "root")
    (tmp_path / "out").mkdir()
    return given, tmp_path / "out"


@pytest.mark.parametrize("pictures", [True, False])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_mlcroissant_finds_nothing_to_complain_of(exported: tuple[Benchmark, Path], pictures: bool) -> None:
    mlc = import_module("mlcroissant")
    given, folder = exported
    croissant.write(given, folder, no_images=not pictures)
    found = mlc.Dataset(str(folder / "croissant.json"))
    issues = found.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    assert given.truth is not None
    rows = pd.DataFrame(found.records("pairs"))
    judged = rows[rows["pairs/value"].notna()]
    columns = (judged[f"pairs/{name}"] for name in ("query_id", "candidate_id", "value"))
    pairs = {(q.decode(), c.decode()): int(v) for q, c, v in zip(*columns, strict=True)}
    truth = given.truth
    assert pairs == dict(zip(zip(truth["query_id"], truth["candidate_id"], strict=True), truth["value"], strict=True))
    assert {one["images/image_id"].decode() for one in found.records("images")} == set(NAMES)
    assert given.votes is not None
    assert len(list(found.records("votes"))) == len(given.votes)


@pytest.mark.parametrize("pictures", [True, False])
def test_datasets_loads_the_folder_without_a_network(
    exported: tuple[Benchmark, Path], pictures: bool, tmp_path: Path
) -> None:
    """In a process of its own: its switches are read when it is imported."""
    import subprocess
    import sys

    given, folder = exported
    hf.write(given, folder, no_images=not pictures)
    program = f"""
import datasets, json
told = {{}}
for name in datasets.get_dataset_config_names({str(folder)!r}):
    told[name] = datasets.load_dataset({str(folder)!r}, name, split="test")
first = told["corpus"][0]["image"].getpixel((0, 0)) if {pictures} else None
bare = told["corpus"].cast_column("image", datasets.Image(decode=False))[0]["image"]
print(json.dumps({{"rows": {{n: len(d) for n, d in told.items()}}, "image": str(told["corpus"].features["image"]),
    "first": first, "path": bare["path"], "bytes": bare["bytes"] is not None,
    "qrels": told["qrels"].select_columns(["query-id", "corpus-id", "score"]).to_list(),
    "default": datasets.load_dataset({str(folder)!r}, split="test").num_rows}}))
"""
    settings = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "home"),
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env={**os.environ, **settings}
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert given.truth is not None
    assert given.votes is not None
    measured = benchmark_labels(given.truth, given.suspects)
    measured = measured[measured["query_id"].isin(measured.loc[measured["value"] == 1, "query_id"])]
    assert 0 < len(measured) < len(given.truth)
    assert found["rows"] == {
        "corpus": 9,
        "queries": 6,
        "qrels": len(measured),
        "top_ranked": measured["query_id"].nunique(),
        "images": len(NAMES),
        "truth": len(given.truth),
        "suspects": len(given.suspects if given.suspects is not None else []),
        "votes": len(given.votes),
        "runs": sum(map(len, given.runs.values())),
    }
    assert found["image"].startswith("Image(")
    assert (found["bytes"], found["path"]) == (pictures, "img/03 größe.png")
    assert found["first"] == ([60, 0, 0] if pictures else None)
    assert found["default"] == len(measured)
    told = pd.DataFrame(found["qrels"]).set_axis(["query_id", "candidate_id", "value"], axis=1)
    same(measured, told, ["query_id", "candidate_id"], ["query_id", "candidate_id", "value"])


@pytest.fixture
def ranked(tmp_path: Path) -> tuple[Path, Path]:
    """A project with an imported benchmark, and the folder of TREC files that it was exported to again."""
    (tmp_path / "first").mkdir()
    trec.write(benchmark(), tmp_path / "first")
    run("init", tmp_path / "p")
    run("benchmarks", "import", "trec", tmp_path / "first", "-p", tmp_path / "p")
    run("benchmarks", "export", "trec", tmp_path / "out", "-p", tmp_path / "p")
    return tmp_path / "p", tmp_path / "out"


def test_a_run_with_ids_leaves_the_catalogue_that_there_is(ranked: tuple[Path, Path]) -> None:
    """Imported by the same command: only --replace takes what ids.tsv tells."""
    project, folder = Project.open(ranked[0]), ranked[1]
    changed = project.read("images")
    changed.loc[0, "product_id"] = "P of its own"
    project.write(changed, "images", Provenance("benchmarks.import.vsd"))
    before = project.path("images").read_bytes()
    words = ["--run", folder / "runs" / "one.run.gz", "--ids", folder / "ids.tsv", "-p", project.root]
    told = run("benchmarks", "import", "trec", *words)
    assert project.path("images").read_bytes() == before
    assert (told["kept_catalogue"], list(told["runs"])) == (True, ["one"])
    assert [note for note in told["notes"] if "1 images differently" in note and "--replace" in note]
    told = run("benchmarks", "import", "trec", *words, "--replace")
    assert told["images"] == len(changed)
    assert "P of its own" not in project.read("images")["product_id"].tolist()


MEASURES = {
    "AP@10(divide_by=relevant)": "AP@10",
    "nDCG@10": "nDCG@10",
    "RR@10": "RR@10",
    "P@5": "P@5",
    "Recall@10": "R@10",
    "Success@5": "Success@5",
}


def test_ir_measures_gives_our_numbers(ranked: tuple[Path, Path]) -> None:
    ir_measures: Any = import_module("ir_measures")
    project, folder = ranked
    scores = run("metrics", "score", "-p", project, "--from", "neighbors", "-M", "trec", "--resamples", 0)
    ours = {(row["model"], row["measure"]): row["value"] for row in scores["scores"]}
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    with_positive = {one.query_id for one in qrels if one.relevance > 0}
    qrels = [one for one in qrels if one.query_id in with_positive]  # ours are means over queries with a positive
    for file in sorted((folder / "runs").iterdir()):
        text = gzip.decompress(file.read_bytes()).decode()
        lists = list(ir_measures.read_trec_run(text))
        wanted = {ir_measures.parse_measure(theirs): name for name, theirs in MEASURES.items()}
        for measure, value in ir_measures.calc_aggregate(list(wanted), qrels, lists).items():
            assert value == pytest.approx(ours[(file.name.split(".")[0], wanted[measure])], abs=1e-12), measure


def test_pytrec_eval_gives_our_numbers_query_by_query(ranked: tuple[Path, Path]) -> None:
    import pytrec_eval

    project, folder = ranked
    words = ["metrics", "score", "-p", project, "--from", "neighbors", "--by-query", "--resamples", 0]
    run(*words, "-M", "nDCG@10", "-M", "AP@10(divide_by=relevant)")
    scores = pd.read_parquet(project / "scores.parquet").dropna(subset=["query_id"])
    ids = pd.read_csv(folder / "ids.tsv", sep="\t", dtype=str, keep_default_na=False)
    names = dict(zip(ids["id"], ids["image_id"], strict=True))
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.txt").read_text().splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    compared = 0
    for file in sorted((folder / "runs").iterdir()):
        lists: dict[str, dict[str, float]] = {}
        for line in gzip.decompress(file.read_bytes()).decode().splitlines():
            query, _, document, _, score, _ = line.split()
            lists.setdefault(query, {})[document] = float(score)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map_cut.10"}).evaluate(lists)
        for query, found in theirs.items():
            mine = scores[(scores["query_id"] == names[query]) & (scores["model"] == file.name.split(".")[0])]
            for measure, value in zip(mine["measure"], mine["value"], strict=True):
                name = "ndcg_cut_10" if measure.startswith("nDCG") else "map_cut_10"
                if not pd.isna(value):
                    assert found[name] == pytest.approx(value, abs=1e-12)
                    compared += 1
    assert compared >= 16


def test_ranx_files_are_read(ranked: tuple[Path, Path], tmp_path: Path) -> None:
    """What ranx writes, as JSON (packed or not) and as Parquet; and what we write it reads."""
    project, folder = ranked
    lists: dict[str, dict[str, float]] = {}
    unpacked = tmp_path / "one.run"  # ranx reads no packed runs
    unpacked.write_bytes(gzip.decompress((folder / "runs" / "one.run.gz").read_bytes()))
    for line in unpacked.read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        lists.setdefault(query, {})[document] = float(score)
    qrels: dict[str, dict[str, int]] = {line.split()[0]: {} for line in (folder / "qrels.txt").read_text().splitlines()}
    for line in (folder / "qrels.txt").read_text().splitlines():
        query, _, document, grade = line.split()
        qrels[query][document] = int(grade)
    (tmp_path / "q.json").write_text(json.dumps(qrels))
    (tmp_path / "one.json.gz").write_bytes(gzip.compress(json.dumps(lists).encode()))
    rows = [(q, d, s) for q, scores in lists.items() for d, s in scores.items()]
    pd.DataFrame(rows, columns=["q_id", "doc_id", "score"]).to_parquet(tmp_path / "two.parquet")
    found = trec.read(
        qrels=tmp_path / "q.json",
        run=(tmp_path / "one.json.gz", tmp_path / "two.parquet"),
        ids=folder / "ids.tsv",
    )
    wanted = trec.read(folder)
    same(wanted.truth, found.truth, ["query_id", "candidate_id"])
    for model in ("one", "two"):
        same(wanted.runs["one"].drop(columns="model"), found.runs[model].drop(columns="model"), ["query_id", "rank"])
    with interpreted_ranx() as ranx:
        run = ranx.Run.from_file(str(unpacked), kind="trec").to_dict()
        assert {query: {name: float(score) for name, score in found.items()} for query, found in run.items()} == lists
        assert ranx.Qrels.from_file(str(folder / "qrels.txt"), kind="trec").to_dict() == qrels
    shutil.rmtree(project)
