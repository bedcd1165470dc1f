"""Random weights are for tests: whoever lists or reports such a model is told."""

import json
from pathlib import Path

import pytest

from eds.cli import cli
from eds.project import Project
from eds.project.report_inputs import describe_models
from eds.tables import Provenance
from tests.embeddings.toy import catalogue


def test_random_weights_are_told_wherever_the_model_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = Project.create(tmp_path / "p")
    project.write(catalogue(project.image_root, 3), "images", Provenance("test"))
    for words in (
        ["compute", "-m", "plain=descriptor:hsv"],
        ["compute", "-m", "rnd=timm:test_resnet", "--random-init"],
    ):
        cli.main(["embeddings", *words, "-p", str(project.root)], prog_name="eds", standalone_mode=False)
    told = capsys.readouterr().out
    assert told.count("its weights are random") == 1
    cli.main(["embeddings", "list", "--json", "-p", str(project.root)], prog_name="eds", standalone_mode=False)
    rows = json.loads(capsys.readouterr().out)["models"]
    assert [row["why"] for row in rows] == [[], ["its weights are random, which is for tests"]]
    assert [card.spec for card in describe_models(project)] == ["descriptor:hsv", "timm:test_resnet, random weights"]
