"""One walk from a folder of images to a report, through Python with `eds` alone and through the command line: equal."""

import json
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import eds
from eds.cli import cli
from eds.project.catalogue import ScanOptions
from eds.project.train import HashOptions

MODELS = ["hsv=descriptor:hsv", "hog=descriptor:hog"]
MEASURES = ["VSD-HR@2", "ROC-AUC", "Judged@2"]
TIMED = {"seconds", "images_per_second", "files", "made_from"}  # durations, and digests of files that hold durations


def comparable(value: Any) -> Any:
    """The JSON without what two equal runs differ in."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in TIMED}
    return [comparable(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of images: category/product/image."""
    root = tmp_path_factory.mktemp("shop")
    drawn = eds.draw_catalogue(root / "drawn", products=8, views=2, size=48, workers=1)
    for path, category, item in drawn[["path", "category", "product_id"]].itertuples(index=False):
        target = root / "photos" / category / item / Path(path).name
        target.parent.mkdir(parents=True, exist_ok=True)
        (root / "drawn" / path).replace(target)
    return root / "photos"


def write_votes(project: eds.Project, file: Path) -> Path:
    """Votes of two experts, who agree on most pairs."""
    suspects = project.read("suspects")
    lines = ["query_id,candidate_id,expert_id,value"]
    for (number, (query, candidate)), expert in product(
        enumerate(suspects[["query_id", "candidate_id"]].drop_duplicates().itertuples(index=False)), ("ann", "bob")
    ):
        value = int(number % 3 == 0 or (number % 5 == 0 and expert == "ann"))
        lines.append(f"{query},{candidate},{expert},{value}")
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def command(root: Path, *words: object) -> Any:
    """The JSON answer of a command."""
    done = CliRunner().invoke(cli, [*map(str, words), "-p", str(root), "--json", "-q"])
    if done.exception:
        raise done.exception
    return json.loads(done.stdout)


def test_python_and_the_command_line_give_the_same_numbers(photos: Path, tmp_path: Path) -> None:
    project = eds.Project.create(tmp_path / "python")
    command(tmp_path / "typed", "init", tmp_path / "typed")

    def same(result: Any, *words: object) -> None:
        answer = json.dumps(result.to_dict()).replace(str(tmp_path / "python"), "PROJECT")
        typed = json.dumps(command(tmp_path / "typed", *words)).replace(str(tmp_path / "typed"), "PROJECT")
        assert comparable(json.loads(answer)) == comparable(json.loads(typed))

    same(project.scan(photos), "images", "scan", photos)
    models = [word for model in MODELS for word in ("-m", model)]
    same(project.embed(MODELS), "embeddings", "compute", *models)
    same(project.mine(k=6), "neighbors", "mine", "-k", 6)
    same(project.pool(k=2), "suspects", "pool", "-k", 2)
    same(project.draw_random(10), "suspects", "random", "-n", 10)
    votes = write_votes(project, tmp_path / "votes.csv")
    same(
        project.labels.import_votes(votes, "shop", new_experts=True, new_pairs=True),
        "labels",
        "import",
        votes,
        "--campaign",
        "shop",
        "--new-experts",
        "--new-pairs",
    )
    same(project.decide(), "truth", "decide")
    same(project.agreement(resamples=50), "truth", "agreement", "--resamples", 50)
    measures = [word for measure in MEASURES for word in ("-M", measure)]
    same(project.score(MEASURES, resamples=50), "metrics", "score", *measures, "--resamples", 50)
    same(project.analyse("prevalence"), "analysis", "prevalence")
    same(project.report(resamples=50), "reports", "write", "--resamples", 50)
    reports = [json.loads((root / "report.json").read_text()) for root in (project.root, tmp_path / "typed")]
    sections = [[part for part in report["sections"] if part["key"] != "limits"] for report in reports]  # digests
    assert len(sections[0]) > 8
    assert sections[0] == sections[1]
    same(project.run(), "run")
    assert {state.condition for state in project.status().tables} == {"fresh"}


def test_the_command_that_status_shows_can_be_typed(photos: Path, tmp_path: Path) -> None:
    project = eds.Project.create(tmp_path / "p")
    project.scan(photos, options=ScanOptions(queries=0.5, near="off"))
    project.embed(MODELS, dtype="float16")
    project.mine(k=6, exclude_product=False, keep_ties=True)
    project.pool(["hsv"], k=2, symmetric="merge")
    project.draw_random(10, universe="all")
    project.draw_negatives(1, min_rank=2, max_rank=4)
    project.draw_repeats(3)
    project.train_hash("codes", HashOptions(base="hsv", bits=8, epochs=1, test_share=0.3, validation_share=0.2))
    for state in project.status().tables:
        for command in filter(None, state.made_by.split("; ")):
            done = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--help"])  # --help: parsed, not carried out
            assert done.exit_code == 0, (command, done.output)
