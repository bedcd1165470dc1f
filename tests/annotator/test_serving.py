"""`eds labels serve`: what it starts, and what it says when it cannot."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from annotator_ui import launcher
from eds import tables
from eds.cli import serving
from eds.errors import EdsError, MissingExtraError, ProjectError
from eds.labels.experts import add_expert, list_experts
from eds.labels.guidelines import guideline_of
from eds.labels.queue import list_campaigns, progress
from eds.labels.store import open_store
from eds.project import Project, demo_campaigns
from tests.browser.annotator import Annotator


class Started(Exception):  # noqa: N818 - not an error
    """The process would be the server now."""


def _serve(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """The command line of the server that `eds labels serve` becomes."""

    def become(program: str, line: list[str]) -> None:
        raise Started(line)

    monkeypatch.setattr(os, "execv", become)
    try:
        CliRunner().invoke(serving.serve, words, catch_exceptions=False)
    except Started as started:
        found: list[str] = started.args[0]
        return found
    raise AssertionError("nothing was started")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.create(tmp_path / "shop")
    store = open_store(made.path("labels"))
    add_expert(store, "ann")
    store.close()
    return made


def test_every_option_reaches_the_server(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(project.root)
    line = _serve(monkeypatch, "-p", folder)
    assert line == [
        sys.executable,
        "-m",
        "annotator_ui",
        "--project",
        folder,
        "--host",
        "127.0.0.1",
        "--port",
        "8501",
        "--browser",
    ]
    words = (
        "--base-path /eds --identity-header X-User --invite ann --proxy 10.0.0.1 --https --insecure-http --no-prepare"
    )
    line = _serve(monkeypatch, "-p", folder, "--port", "0", "--no-browser", *words.split())
    assert line[line.index("--base-path") :] == words.split()


def test_the_server_knows_every_option_that_it_is_started_with() -> None:
    from annotator_ui.__main__ import run

    asked = {option for parameter in run.params for option in parameter.opts}
    source = Path(serving.__file__).read_text(encoding="utf-8")
    used = set(re.findall(r'"(--[a-z-]+)"', source.split("words = [")[1].split("os.execv")[0]))
    assert used <= asked


def test_what_is_missing_is_told_with_what_to_do(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProjectError, match="no project here"):
        _serve(monkeypatch, "-p", str(tmp_path / "nowhere"))
    bare = Project.create(tmp_path / "bare")
    with pytest.raises(EdsError) as error:
        _serve(monkeypatch, "-p", str(bare.root))
    assert "eds labels experts add" in str(error.value)
    open_store(bare.path("labels")).close()
    with pytest.raises(ProjectError, match="nobody has an account"):
        _serve(monkeypatch, "-p", str(bare.root))
    monkeypatch.setattr(serving, "find_spec", lambda name: None if name == "streamlit" else find_spec(name))
    with pytest.raises(MissingExtraError) as missing:
        _serve(monkeypatch, "-p", str(project.root))
    assert "streamlit" in missing.value.what
    assert "eds-benchmark[annotator]" in missing.value.hint


def test_the_server_itself_tells_a_taken_port_in_one_line(project: Project) -> None:
    with launcher.listen("127.0.0.1", 0) as taken:
        words = ["--project", str(project.root), "--port", str(taken.getsockname()[1])]
        done = subprocess.run(
            [sys.executable, "-m", "annotator_ui", *words], capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert re.fullmatch(r"eds: --port: port \d+ is taken .*\n", done.stderr)
    bad = subprocess.run(
        [sys.executable, "-m", "annotator_ui", "--prot", "1"], capture_output=True, text=True, check=False
    )
    assert (bad.returncode, bad.stderr.count("\n")) == (2, 1)


def test_the_demo_is_prepared_once_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "demo"
    line = _serve(monkeypatch, "-p", str(folder), "--demo", "--no-browser", "-q")
    assert line[-4:] == ["--invite", "guest", "--invite", "lead"]
    project = Project.open(folder)
    store = open_store(project.path("labels"))
    try:
        before = progress(store).to_dict()
        states = progress(store).groupby("campaign")[["done", "left"]].sum()
        assert states["left"].to_dict()["simulated"] == 0
        assert states["done"].to_dict()["simulated"] > 300
        waiting = list_campaigns(store).set_index("name").loc[[demo_campaigns.PAIRS, demo_campaigns.GRID]]
        assert waiting["mode"].tolist() == ["pair", "grid"]
        assert (states.loc[waiting.index, "done"] == 0).all()
        assert project.read("suspects")["origin"].eq("pool").all()
        people = list_experts(store).set_index("name")["role"]
        assert (people["guest"], people["lead"]) == ("expert", "lead")
        _serve(monkeypatch, "-p", str(folder), "--demo", "--no-browser", "-q")
        assert progress(store).to_dict() == before
        guideline = guideline_of(store, demo_campaigns.GRID)
        assert guideline is not None
        categories = set(project.read("images")["category"])
        for kind in ("positive", "negative", "border"):
            shown = [one for one in guideline.examples if one.kind == kind]
            assert {one.query_id.split("/")[1] for one in shown} == categories
            assert all(one.note for one in shown)
        asked = set(zip(*(project.read("suspects")[name] for name in ("query_id", "candidate_id")), strict=True))
        assert not asked & {(one.query_id, one.candidate_id) for one in guideline.examples}, "no answer is given away"
        assert project.calibration.planned(demo_campaigns.PAIRS) is not None
        server = Annotator(project, store, ())
        server.start()
        server.stop()
        assert server.log() == ""
    finally:
        store.close()


def test_the_demo_keeps_out_of_real_projects(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    images = pd.DataFrame({"image_id": ["a"], "path": ["a.png"], "product_id": ["a"], "role": ["both"]})
    for name in ("category", "phase", "width", "height", "sha256", "box_left", "box_top", "box_right", "box_bottom"):
        images[name] = None
    project.write(images, "images", tables.Provenance("test"))
    with pytest.raises(ProjectError, match="not a drawn one"):
        _serve(monkeypatch, "-p", str(project.root), "--demo")


def test_the_help_names_every_option() -> None:
    said = CliRunner().invoke(serving.serve, ["--help"]).output
    for parameter in serving.serve.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.opts[-1] in said
            assert parameter.help
