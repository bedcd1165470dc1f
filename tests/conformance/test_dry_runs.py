"""Every command that writes has --dry-run, which says what would change and leaves every byte as it is."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from eds.cli import cli
from eds.labels.judgements import Judgement
from eds.project import Project
from eds.project.campaigns import CampaignPlan
from eds.project.train import HashOptions
from tests.generated import every_command

READ = {  # commands that write nothing
    *("status", "completion", "images check", "models list", "neighbors list", "suspects list", "suspects growth"),
    *(
        "embeddings check",
        "embeddings list",
        "labels audit",
        "labels status",
        "labels flags list",
    ),
    *("labels calibration list", "labels campaigns list", "labels experts list", "labels gold list"),
    *("labels guideline list", "labels guideline show", "labels imports list", "truth agreement", "metrics list"),
    *("analysis budget", "analysis draws", "analysis utilisation", "training list", "synthetic experts show"),
    *("assistant list", "assistant agreement", "assistant estimate"),
    *("standing", "suspects promise", "labels campaigns show", "labels campaigns needs"),
    "labels campaigns disagreement",
    *("neighbors search", "images find", "suspects origin", "images duplicates list"),
    *("labels tokens list", "labels webhooks list"),
    "labels serve",  # it serves people, who write
}
# What each command that writes is called with; {p} is the project, {t} the folder around it.
CALLS = {
    "init": "{t}/new",
    "run": "",
    "demo": "{t}/drawn",
    "undo": "",
    "images scan": "",
    "images import": "{t}/list.csv --replace",
    "images sheet": "",
    "embeddings compute": "-m timm:resnet18 -m hsv=descriptor:hsv",
    "embeddings import": "ours {t}/ours.npy {t}/ids.txt",
    "embeddings map": "--out {t}/map.csv",
    "images duplicates decide": "keep {q} {c}",
    "images duplicates search": "",
    "models add": "hog --role evaluated",
    "models remove": "hog",
    "models rename": "hog gradients",
    "neighbors mine": "-k 4",
    "neighbors show": "--out {t}/strips.html",
    "suspects pool": "-k 4",
    "suspects random": "-n 3",
    "suspects draw": "-n 3 --design uniform",
    "suspects negatives": "--min-rank 3 --max-rank 5 -n 1",
    "suspects add": "{t}/pairs.csv",
    "suspects add-model": "hog -k 4",
    "suspects add-images": "{q} -k 5",
    "suspects gold": "{t}/known.csv -n 1",
    "suspects repeats": "-n 2",
    "suspects reorder": "--order random",
    "labels experts add": "bob",
    "labels experts invite": "ann",
    "labels experts disable": "ann",
    "labels experts enable": "ann",
    "labels campaigns add": "second --expert ann --origin gold --origin pool",
    "labels campaigns adapt": "adaptive",
    "labels campaigns join": "first --expert cid",
    "labels campaigns leave": "first ann",
    "labels campaigns close": "first",
    "labels campaigns reopen": "closed",
    "labels tokens make": "ann --label nightly",
    "labels tokens revoke": "ann 1",
    "labels webhooks add": "https://hooks.example.com/eds",
    "labels webhooks remove": "1",
    "labels webhooks deliver": "",
    "labels calibration again": "planned ann",
    "labels guideline save": "2 {t}/similar.md",
    "labels guideline enforce": "1 --campaign first",
    "labels calibration plan": "planned --pairs 1",
    "labels gold add": "{t}/known.csv",
    "labels flags resolve": "1",
    "labels adjudicate": "{q} {c} --campaign first --value similar --by ann-lead",
    "labels import": "{t}/votes.csv --campaign crowd --new-experts",
    "labels imports void": "1",
    "labels export": "{t}/out.csv",
    "labels backup": "{t}/backup.zip",
    "labels restore": "{t}/saved.zip --replace",
    "labels upgrade": "",
    "assistant import": "second {t}/known.csv",
    "assistant learn": "learned",
    "assistant ask": "seer --limit 5",
    "assistant remove": "helper",
    "truth decide": "--replace",
    "metrics score": "",
    "analysis bias": "",
    "analysis identification": "",
    "analysis leave-one-out": "",
    "analysis overlap": "",
    "analysis prevalence": "",
    "analysis reusability": "",
    "analysis threshold": "",
    "training split": "",
    "training hash": "codes --base hsv --objective itq",
    "training finetune": "tuned --base wheel:efficientnet_lite0",
    "training export": "fitted",
    "training benchmark": "--data catalogue",
    "reports write": "",
    **{f"benchmarks export {name}": f"{{t}}/{name}" for name in ("croissant", "hf", "label-studio", "trec", "votes")},
    **{f"benchmarks export {name}": f"{{t}}/{name}" for name in ("vsd", "fiftyone")},
    "benchmarks import croissant": "{t}/exported/croissant -p {t}/empty",
    "benchmarks import hf": "{t}/exported/hf -p {t}/empty",
    "benchmarks import label-studio": "{t}/exported/label-studio/tasks.json --replace",
    "benchmarks import trec": "{t}/exported/trec --replace",
    "benchmarks import votes": "{t}/exported/votes/votes.csv --replace",
    "benchmarks import vsd": "{t}/exported/vsd -p {t}/empty",
    "benchmarks import argilla": "{t}/records.json",
    "benchmarks push": "example/garments --token-env NO_TOKEN",
    "benchmarks pull": "example/garments -p {t}/empty",
    "benchmarks leaderboard": "--out {t}/board.html --resamples 0",
    "benchmarks reproduce vsd": "--out {t}/tables",
    "benchmarks reproduce vsd-bias": "--out {t}/bias",
    "synthetic catalogue": "--products 3 -p {t}/empty",
    "synthetic experts judge": "",
}
PAIR = ["query_id", "candidate_id"]


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project in which everything has happened once, and with the files that commands read."""
    folder = tmp_path_factory.mktemp("dry")
    asked = {"assistant.url": "http://127.0.0.1:9/v1", "assistant.model": "seer", "assistant.send_pictures": True}
    project = Project.create(folder / "p", {"suspects.k": 2, "neighbors.k": 5, **asked})
    project.image_root.mkdir()
    for number in range(12):
        noise = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
        place = project.image_root / f"p{number // 2}"
        place.mkdir(exist_ok=True)
        Image.fromarray(noise).resize((32, 32)).save(place / f"{number}.png")
    project.scan(layout="product")
    project.embed(["hsv=descriptor:hsv", "hog=descriptor:hog"])
    project.mine()
    project.pool()
    pairs = project.read("suspects")[PAIR]
    pairs.head(3).assign(value=1).to_csv(folder / "known.csv", index=False)
    project.assistants.import_answers("helper", folder / "known.csv")
    project.draw_gold(folder / "known.csv", 1)
    for name, role in (("ann", "expert"), ("cid", "expert"), ("ann-lead", "lead")):
        project.experts.add(name, role)
    project.labels.add_gold(folder / "known.csv")
    (folder / "similar.md").write_text("Similar means similar.")
    project.guidelines.save("1", folder / "similar.md")
    project.campaigns.create("first", ["ann"], origins=["pool"])
    project.campaigns.create("planned", ["ann"], origins=["gold"])
    project.calibration.plan("planned", 1)
    project.campaigns.create("closed", ["ann"], origins=["pool"])
    project.campaigns.close("closed")
    project.campaigns.create("adaptive", ["ann", "cid"], origins=["pool"], plan=CampaignPlan(adaptive=True))
    project.experts.make_token("ann", "nightly")
    project.webhooks.add("https://hooks.example.com/eds")
    project.train_hash(
        "fitted", HashOptions(base="hsv", objective="itq", bits=2, test_share=0.34, validation_share=0.34)
    )
    tasks = project.labels.next_tasks("first", "ann", 15)
    project.labels.submit("ann", [Judgement(f"t{task.assignment}", task.assignment, 1) for task in tasks[1:]])
    project.labels.flag("ann", tasks[0].assignment, "dark", "flag-1")
    pairs.tail(6).assign(expert_id="eva", value=0).to_csv(folder / "votes.csv", index=False)
    project.labels.import_votes(folder / "votes.csv", "elsewhere", new_experts=True)
    project.decide(replace=True)
    project.draw_random(5)
    project.score("VSD-HR@3", resamples=0)
    project.labels.back_up(folder / "saved.zip")
    for name in ("croissant", "hf", "label-studio", "trec", "votes", "vsd"):
        project.export(name, folder / "exported" / name)
    answers = {"similar": [{"value": "yes", "user_id": "u1"}]}
    first = dict(zip(PAIR, pairs.iloc[0], strict=True))
    (folder / "records.json").write_text(json.dumps([{"metadata": first, "responses": answers}]))
    np.save(folder / "ours.npy", np.eye(12, dtype=np.float32))
    (folder / "ids.txt").write_text("\n".join(project.read("images")["image_id"]))
    project.read("images")[["image_id", "path"]].to_csv(folder / "list.csv", index=False)
    pairs.head(1).rename(columns=dict(zip(PAIR, PAIR[::-1], strict=True))).to_csv(folder / "pairs.csv", index=False)
    Project.create(folder / "empty")
    shutil.copy(place / "11.png", place / "12.png")  # to scan
    return folder


def digests(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        found[path.relative_to(folder).as_posix()] = content
    return found


def commands() -> Iterator[str]:
    for words, _ in every_command(cli, []):
        yield " ".join(words)


def test_every_command_that_writes_is_tried_and_no_other_has_the_option() -> None:
    assert set(CALLS) | READ == set(commands())
    for words, command in every_command(cli, []):
        options = [name for option in command.params for name in option.opts]
        assert ("--dry-run" in options) == (" ".join(words) in CALLS), words


@pytest.mark.parametrize("name", CALLS)
def test_a_dry_run_says_what_would_change_and_changes_nothing(
    name: str, around: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(around)
    query, candidate = Project.open(around / "p").read("suspects")[PAIR].iloc[0]
    words = [word.format(p=around / "p", t=around, q=query, c=candidate) for word in CALLS[name].split()]
    where = [] if "-p" in words else ["-p", str(around / "p")]
    before = digests(around)
    capsys.readouterr()
    cli.main([*name.split(), *words, *where, "--dry-run", "--json"], standalone_mode=False)
    shown = json.loads(capsys.readouterr().out)
    assert digests(around) == before
    changes = shown["dry_run"]["changes"]
    if name not in ("labels upgrade", "labels experts enable", "run", "embeddings compute"):
        assert changes, shown
    assert all(change["action"] and change["what"] for change in changes)
