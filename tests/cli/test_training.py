"""`eds training` as a person types it: killed and called again, stale codes, and all that it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.torch import load_file

from eds import tables
from eds.cli import cli
from eds.errors import EdsError
from eds.project import Project
from eds.project.train import refresh
from eds.synthetic.catalogue import draw_catalogue

PRODUCTS, VIEWS = 20, 3
RESNET = "timm:test_resnet?size=48&crop=48&resize=squash"
HASH = ["--base", "hsv", "--bits", "16", "--keep", "last", "--test-share", "0.3", "--validation-share", "0.2"]
NETWORK = ["--base", RESNET, "--random-init", "--batch", "8", "--keep", "last"]


def call(project: Path, *words: str) -> dict[str, object]:
    """The command's JSON answer; what it refuses is raised."""
    done = CliRunner().invoke(cli, [*words, "-p", str(project), "--json"])
    if done.exception:
        raise done.exception
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn catalogue with the vectors of one descriptor."""
    made = Project.create(tmp_path_factory.mktemp("training") / "p", {"embeddings.models": ["hsv=descriptor:hsv"]})
    images = draw_catalogue(made.image_root, products=PRODUCTS, views=VIEWS, size=40, workers=1)
    made.write(images, "images", tables.Provenance("drawn"))
    call(made.root, "embeddings", "compute")
    return made.root


def killed(project: Path, words: Sequence[str], log: Path, epochs: int) -> None:
    """Call `eds` in a process of its own and kill it (-9) once so many epochs are done."""
    program = [sys.executable, "-c", "from eds.cli import main; main()", *words, "-p", str(project)]
    started = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ})
    try:
        end = time.monotonic() + 120
        while not (log.exists() and len(log.read_text().splitlines()) > epochs):
            assert started.poll() is None, started.stderr and started.stderr.read().decode()
            assert time.monotonic() < end
            time.sleep(0.005)
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()
        if started.stderr:
            started.stderr.close()
    assert started.returncode == -signal.SIGKILL


def test_hash_killed_in_the_middle_ends_with_the_same_weights(project: Path) -> None:
    words = ["training", "hash", "cut", *HASH, "--epochs", "80"]
    log = project / "training" / "cut" / "log.csv"
    killed(project, words, log, 3)
    assert not (project / "embeddings" / "cut").exists()
    again = call(project, *words)
    assert 3 <= int(str(again["resumed_at"])) < 80
    whole = call(project, "training", "hash", "whole", *words[3:])
    assert whole["resumed_at"] == 0
    assert again["checkpoint_sha256"] == whole["checkpoint_sha256"]
    codes = [np.load(next((project / "embeddings" / name).glob("*.npy"))) for name in ("cut", "whole")]
    np.testing.assert_array_equal(*codes)


BY_LABELS = ["--labels", "product"]
BY_DINO = ["--objective", "dino", "--crops", "1", "--prototypes", "16"]


@pytest.mark.parametrize("how", [BY_LABELS, BY_DINO])
def test_finetune_killed_in_the_middle_ends_with_the_same_weights(project: Path, how: list[str]) -> None:
    runs = [project / "training" / f"{part}-{how[1]}" for part in ("cut", "whole")]
    rest = [*NETWORK, "--epochs", "8", *how]
    killed(project, ["training", "finetune", runs[0].name, *rest], runs[0] / "log.csv", 2)
    again, whole = (call(project, "training", "finetune", run.name, *rest) for run in runs)
    assert 2 <= int(str(again["resumed_at"])) < 8
    assert again["checkpoint_sha256"] == whole["checkpoint_sha256"]
    weights = [load_file(run / "backbone.safetensors") for run in runs]
    assert weights[0].keys() == weights[1].keys()
    assert all(bool((tensor == weights[1][name]).all()) for name, tensor in weights[0].items())


def test_codes_whose_images_changed_are_told_as_stale_and_made_anew(project: Path) -> None:
    call(project, "training", "hash", "codes", *HASH, "--epochs", "2")
    assert condition(project, "codes") == "fresh"
    here = Project.open(project)
    images = here.read("images")
    here.write(images.assign(category="all"), "images", tables.Provenance("drawn again"))
    try:
        assert condition(project, "codes") == "stale"
        with pytest.raises(EdsError, match="stale"):
            call(project, "training", "hash", "more", *HASH)
        call(project, "embeddings", "compute")
        with here.writing("test"):
            refresh(here)
        assert condition(project, "codes") == "fresh"
    finally:
        here.write(images, "images", tables.Provenance("drawn"))
        call(project, "embeddings", "compute")


def condition(project: Path, model: str) -> str:
    """What `eds status` says of a model's vectors."""
    told: list[dict[str, str]] = call(project, "status")["tables"]  # type: ignore[assignment]
    return next(state["condition"] for state in told if state["path"] == f"embeddings/{model}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["hash", "x", *HASH, "--bits", "65"], "65 bits"),
        (["hash", "x", *HASH, "--batch", "1"], "batch is 1"),
        (["hash", "x", *HASH, "--test-share", "0.9", "--validation-share", "0.2"], "1.1 together"),
        (["hash", "x", *HASH, "--validation-share", "0.01"], "too few for three parts"),
        (["hash", "x", *HASH, "--margin", "2"], "neither margin nor alpha"),
        (["hash", "x", *HASH, "--scale", "fast"], "scale of tanh"),
        (["hash", "x", *HASH, "--labels", "truth"], "truth"),
        (["hash", "hsv", *HASH], "would replace their base"),
        (["hash", "x", "--base", "none"], "no vectors of model none"),
        (["hash", "x", *HASH, "--learning-rate", "1e38"], "learning_rate is 1e+38"),
        (["finetune", "x", "--base", RESNET], "weights"),
        (["finetune", "x", "--base", "descriptor:hsv"], "cannot be trained"),
        (["finetune", "x", *NETWORK, "--frozen", "999"], "are to be frozen"),
        (["finetune", "x", *NETWORK, "--crops", "2"], "takes no --crops"),
        (["finetune", "x", *NETWORK, "--objective", "dino", "--labels", "both"], "takes no --labels"),
        (["finetune", "x", *NETWORK, "--objective", "dino", "--temperature", "warm"], "invalid temperature 'warm'"),
        (["finetune", "x", *NETWORK, "--objective", "dino", "--temperature", "0.2"], "must be below"),
        (["finetune", "x", *NETWORK, "--objective", "dino", "--local-size", "3"], "local_side is 3"),
        (["finetune", "../x", *NETWORK], "name"),
    ],
)
def test_bad_input_is_told_in_one_line(project: Path, words: list[str], told: str) -> None:
    with pytest.raises(EdsError) as error:
        call(project, "training", *words)
    assert told in str(error.value)


def test_a_checkpoint_of_another_architecture_is_refused(project: Path) -> None:
    call(project, "training", "finetune", "small", *NETWORK, "--epochs", "1")
    file = project / "training" / "small" / "backbone.safetensors"
    with pytest.raises(EdsError) as error:
        call(project, "training", "finetune", "other", "--base", f"checkpoint:{file}?arch=timm:test_vit&size=32")
    assert f"{file}: the weights do not fit this architecture" in str(error.value)
    assert any("missing from the file" in fault and "cls_token" in fault for fault in error.value.faults)


def test_another_run_under_the_same_name_is_refused_unless_it_is_to_begin_anew(project: Path) -> None:
    first = call(project, "training", "finetune", "again", *NETWORK, "--epochs", "1", "--seed", "1")
    with pytest.raises(EdsError, match="the folder holds another run"):
        call(project, "training", "finetune", "again", *NETWORK, "--epochs", "1", "--seed", "2")
    anew = call(project, "training", "finetune", "again", *NETWORK, "--epochs", "1", "--seed", "2", "--replace")
    assert anew["checkpoint_sha256"] != first["checkpoint_sha256"]


def kept(folder: Path) -> dict[str, bytes]:
    """What a run left."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize(
    "words",
    [
        ["--base", "timm:nosuchmodel"],
        ["--base", "descriptor:hsv"],
        [*NETWORK, "--frozen", "999"],
        [*NETWORK, "--test-share", "0.01"],
        [*NETWORK, "--objective", "dino", "--temperature", "0.2"],
        [*NETWORK, "--objective", "dino", "--local-size", "3"],
    ],
)
def test_a_network_that_cannot_begin_anew_leaves_the_run_that_is_there(project: Path, words: list[str]) -> None:
    folder = project / "training" / "staying"
    if not folder.exists():
        call(project, "training", "finetune", "staying", *NETWORK, "--epochs", "1")
    before = kept(folder)
    assert {"state.safetensors", "backbone.safetensors", "log.csv", "pixels.npy"} <= before.keys()
    with pytest.raises(EdsError):
        call(project, "training", "finetune", "staying", *words, "--epochs", "1", "--replace")
    assert kept(folder) == before


@pytest.mark.parametrize(
    "words",
    [
        ["--objective", "two-level-dsh", "--labels", "product"],
        ["--labels", "truth"],
        ["--base", "none"],
        ["--bits", "65"],
        ["--validation-share", "0.01"],
        ["--objective", "talr-ap", "--margin", "2"],
    ],
)
def test_a_head_that_cannot_begin_anew_leaves_the_run_that_is_there(project: Path, words: list[str]) -> None:
    folders = project / "training" / "head", project / "embeddings" / "head"
    if not folders[0].exists():
        call(project, "training", "hash", "head", *HASH, "--epochs", "2")
    before = [kept(folder) for folder in folders]
    assert {"state.safetensors", "head.safetensors", "log.csv"} <= before[0].keys()
    with pytest.raises(EdsError):
        call(project, "training", "hash", "head", *HASH, *words, "--replace")
    assert [kept(folder) for folder in folders] == before


def test_a_head_that_begins_anew_is_that_of_a_fresh_run(project: Path) -> None:
    call(project, "training", "hash", "anew", *HASH, "--epochs", "3", "--seed", "1")
    anew = call(project, "training", "hash", "anew", *HASH, "--epochs", "2", "--seed", "2", "--replace")
    fresh = call(project, "training", "hash", "fresh", *HASH, "--epochs", "2", "--seed", "2")
    assert (anew["resumed_at"], anew["checkpoint_sha256"]) == (0, fresh["checkpoint_sha256"])
    call(project, "training", "hash", "anew", *HASH, "--objective", "pca-sign", "--replace")
    assert kept(project / "training" / "anew").keys() == {"head.safetensors", "run.json", "splits.parquet", "lock"}


def test_a_refusal_is_one_line_and_no_traceback(project: Path) -> None:
    program = [sys.executable, "-c", "from eds.cli import main; main()", "training", "hash", "x", *HASH, "--bits", "0"]
    done = subprocess.run([*program, "-p", str(project)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("eds: ")


def test_a_gpu_that_is_not_there_is_refused_before_anything_is_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    with pytest.raises(EdsError, match="device cuda does not exist"):
        call(project, "training", "finetune", "on-gpu", *NETWORK, "--device", "cuda")
    assert not (project / "training" / "on-gpu").exists()


def test_the_next_command_can_be_typed_as_it_stands(project: Path) -> None:
    words = ["training", "finetune", "next", *NETWORK, "--epochs", "1", "-p", str(project)]
    told = CliRunner().invoke(cli, words).stdout.strip().splitlines()[-1]
    text = f"next=checkpoint:{project}/training/next/backbone.safetensors"
    assert told == f"Next: eds embeddings compute --model {text} --project {project}"


def test_all_files_of_a_run_may_be_read_by_the_same_people(project: Path) -> None:
    call(project, "training", "finetune", "modes", *NETWORK, "--epochs", "1")
    call(project, "training", "hash", "modes2", *HASH, "--epochs", "1")
    files = [file for name in ("modes", "modes2") for file in (project / "training" / name).iterdir()]
    assert {"backbone.safetensors", "head.safetensors", "state.safetensors", "log.csv"} <= {file.name for file in files}
    assert len({file.stat().st_mode for file in files}) == 1
