"""`eds embeddings` and its part in `eds run`, on a small project with a model that needs no network."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eds.cli import cli
from eds.errors import ConfigError, InputError, ProjectError, TableError
from eds.project import Project
from eds.tables import Provenance
from eds.vectors import Vectors
from tests.embeddings.toy import catalogue

MODELS = ("colour=descriptor:hsv", "descriptor:lbp")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.create(tmp_path / "p", {"embeddings.models": list(MODELS)})
    made.write(catalogue(made.image_root, 6), "images", Provenance("test"))
    return made


def eds(project: Project, *words: str | Path) -> None:
    cli.main(["embeddings", *map(str, words), "-p", str(project.root)], prog_name="eds", standalone_mode=False)


def answered(project: Project, capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    capsys.readouterr()
    eds(project, *words, "--json")
    answer = json.loads(capsys.readouterr().out)
    return answer["models"] if words in (("list",), ("check",)) else answer


def test_compute_list_check(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (project.image_root / "002.jpg").write_bytes(b"")
    told = answered(project, capsys, "compute")
    assert [(model["model"], model["rows"], model["computed"]) for model in told["models"]] == [
        ("colour", 5, 5),
        ("descriptor-lbp", 5, 5),
    ]
    assert [bad["image_id"] for bad in told["bad"]] == ["i002"]
    listed = answered(project, capsys, "list")
    assert [(row["model"], row["rows"], row["state"]) for row in listed] == [
        ("colour", 5, "fresh"),
        ("descriptor-lbp", 5, "fresh"),
    ]
    assert [(row["vectors"], row["without"], row["fault"]) for row in answered(project, capsys, "check")] == [
        (5, 1, None)
    ] * 2
    assert len(answered(project, capsys, "list", "--presets")["presets"]) == 28


def test_check_refuses_a_shard_that_changed(project: Project) -> None:
    eds(project, "compute", "-m", MODELS[0])
    shard = project.path("embeddings", "colour") / "00000.npy"
    shard.write_bytes(shard.read_bytes()[:-1] + b"x")
    with pytest.raises(TableError, match=r"(?s)1 of 1 models.*colour: .*00000.npy is not the file"):
        eds(project, "check")


def test_import_then_replace(project: Project, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((6, 4), dtype=np.float32)
    np.save(tmp_path / "v.npy", values)
    (tmp_path / "ids.txt").write_text("\n".join(f"i{number:03d}" for number in range(6)))
    eds(project, "import", "ours", tmp_path / "v.npy", tmp_path / "ids.txt")
    assert np.array_equal(Vectors.open(project.path("embeddings", "ours")).gather(["i004"])[0], values[4])
    assert project.state("embeddings", "ours").condition == "fresh"
    np.save(tmp_path / "v.npy", -values)
    with pytest.raises(ProjectError, match="stale"):
        eds(project, "import", "ours", tmp_path / "v.npy", tmp_path / "ids.txt")
    eds(project, "import", "ours", tmp_path / "v.npy", tmp_path / "ids.txt", "--replace")
    assert np.array_equal(Vectors.open(project.path("embeddings", "ours")).gather(["i004"])[0], -values[4])


def test_run_makes_what_is_missing_or_stale_and_nothing_else(project: Project) -> None:
    from eds.project.embed import refresh

    def times() -> dict[str, int]:
        return {path.parent.name: path.stat().st_mtime_ns for path in project.root.glob("embeddings/*/model.json")}

    eds(project, "compute", "-m", MODELS[0])
    first = times()
    refresh(project)
    assert sorted(times()) == ["colour", "descriptor-lbp"]
    assert times()["colour"] == first["colour"]
    second = times()
    refresh(project)
    assert times() == second
    project.write(project.read("images")[:4], "images", Provenance("test"))
    refresh(project)
    assert [len(Vectors.open(project.path("embeddings", name))) for name in second] == [4, 4]
    toml = project.root / "eds.toml"
    toml.write_text(toml.read_text().replace('# dtype = "float32"', 'dtype = "float16"'))
    again = Project.open(project.root)
    refresh(again)
    assert [Vectors.open(project.path("embeddings", name)).model.dtype for name in second] == ["float16"] * 2
    assert {state.condition for state in again.states() if state.table == "embeddings" and state.model} == {"fresh"}


def test_run_keeps_the_options_that_a_model_was_computed_with(project: Project) -> None:
    from eds.project.embed import refresh

    eds(project, "compute", "-m", MODELS[0], "--dtype", "float16")
    project.write(project.read("images")[:4], "images", Provenance("test"))
    refresh(project)
    dtypes = [Vectors.open(project.path("embeddings", name)).model.dtype for name in ("colour", "descriptor-lbp")]
    assert dtypes == ["float16", "float32"]
    assert project.state("embeddings", "colour").condition == "fresh"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compute", "-m", "nonsense"], "'nonsense' is not a model"),
        (["compute", "-m", "a=descriptor:hsv", "-m", "a=descriptor:lbp"], "two models are called a"),
        (["compute", "-m", "../a=descriptor:hsv"], "cannot name a model"),
    ],
)
def test_what_cannot_be_is_refused(project: Project, words: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        eds(project, *words)
    assert not (project.root / "embeddings").exists()


def test_without_models_the_user_is_told_what_to_write(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p")
    project.write(catalogue(project.image_root, 2), "images", Provenance("test"))
    with pytest.raises(ConfigError, match="no model is named"):
        eds(project, "compute")


@pytest.mark.parametrize("how", ["gone", "cut"])
@pytest.mark.parametrize("again", [["compute"], ["compute", "--replace"], None], ids=["compute", "replace", "run"])
def test_a_lost_shard_is_told_and_computed_again(
    project: Project, capsys: pytest.CaptureFixture[str], how: str, again: list[str] | None
) -> None:
    from eds.project.embed import refresh
    from eds.project.status import read_status

    eds(project, "compute")
    shard = project.path("embeddings", "colour") / "00000.npy"
    shard.unlink() if how == "gone" else shard.write_bytes(shard.read_bytes()[:-1])
    assert [row["state"] for row in answered(project, capsys, "list")] == ["damaged", "fresh"]
    told = [state for state in read_status(project).tables if state.table == "embeddings"]
    assert [(state.condition, *state.reasons)[:2] for state in told] == [("damaged", told[0].reasons[0]), ("fresh",)]
    assert told[0].reasons[0].startswith("00000.npy is ")
    eds(project, "list")
    assert "colour: 00000.npy is " in capsys.readouterr().out
    with pytest.raises(TableError, match="eds embeddings compute --models colour=descriptor:hsv"):
        Vectors.open(shard.parent)
    if again:
        assert [model["computed"] for model in answered(project, capsys, *again)["models"]] == [6, 0]
    else:
        refresh(project)
    assert [row["state"] for row in answered(project, capsys, "list")] == ["fresh", "fresh"]
    eds(project, "check")


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_vectors_that_nobody_can_name_are_told_and_made_anew(
    project: Project, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    eds(project, "compute")
    listed = project.path("embeddings", "colour") / "ids.parquet"
    listed.unlink() if how == "gone" else listed.write_bytes(b"xx")
    rows = answered(project, capsys, "list")
    assert [row["state"] for row in rows] == ["damaged", "fresh"]
    assert rows[0]["why"][0].startswith("ids.parquet, which names the images of the vectors, ")
    with pytest.raises(TableError, match="Compute the vectors again: --replace"):
        eds(project, "compute")
    assert [model["computed"] for model in answered(project, capsys, "compute", "--replace")["models"]] == [6, 0]
    assert [row["state"] for row in answered(project, capsys, "list")] == ["fresh", "fresh"]


def test_one_damaged_model_hides_no_other(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    eds(project, "compute")
    (project.path("embeddings", "colour") / "model.json").write_text("{")
    rows = answered(project, capsys, "list")
    assert [(row["model"], row["state"]) for row in rows] == [("colour", "damaged"), ("descriptor-lbp", "fresh")]
    assert "model.json is damaged" in rows[0]["why"][0]


@pytest.mark.parametrize("words", ["moco", "ours=moco"])
def test_a_preset_without_its_file_is_told_by_its_name(project: Project, words: str) -> None:
    with pytest.raises(
        InputError, match=r"moco: its weights are on no hub .*-m moco@/path/moco_v2_800ep_pretrain"
    ) as no:
        eds(project, "compute", "-m", words)
    assert "checkpoint:" not in str(no.value)


@pytest.mark.parametrize("words", ["moco@/away/w=1.pth", "ours=moco@/away/w=1.pth"])
def test_a_preset_takes_a_file_of_the_users(project: Project, words: str) -> None:
    with pytest.raises(InputError, match=r"/away/w=1.pth: weights file not found"):
        eds(project, "compute", "-m", words)


def test_a_model_that_is_up_to_date_is_not_loaded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a network takes seconds and a gigabyte; here loading at all would fail."""
    project.embed(["colour=descriptor:hsv"])
    monkeypatch.setattr("eds.backbones.load", lambda *_, **__: pytest.fail("a network was loaded"))
    again = project.embed(["colour=descriptor:hsv"])
    assert [(item.model, item.computed, item.kept) for item in again.models] == [("colour", 0, 6)]
    with pytest.raises(pytest.fail.Exception):
        project.embed(["colour=descriptor:hsv?size=64"])  # another text is another model
    with pytest.raises(pytest.fail.Exception):
        project.embed(["colour=descriptor:hsv"], replace=True)
