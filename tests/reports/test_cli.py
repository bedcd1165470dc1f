"""`eds reports write` on a project on disk: whole, with hostile names, with codes, with a careless search."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from eds import tables
from eds.cli import cli
from eds.errors import InputError
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import open_store
from eds.project import Project
from eds.tables import Provenance
from eds.vectors import Model, Vectors, pack, write
from tests.metrics.projects import project_in

EVIL = "<script>alert('x')</script>&\"<b>"
PAIR = ["query_id", "candidate_id"]


def run(project: Project, *words: str) -> Result:
    return CliRunner().invoke(cli, ["reports", "write", "-p", str(project.root), "--resamples", "20", *words])


def sections_of(project: Project) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((project.root / "report.json").read_text(encoding="utf-8"))
    sections = {}
    for part in document["sections"]:
        blocks = enumerate(part["blocks"])
        sections[part["key"]] = {block.get("key", at): block for at, block in blocks if block["kind"] != "figure"}
    return sections


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two generators, an outsider, codes; a category, a product and an expert with hostile names; some pictures."""
    made = project_in(tmp_path_factory.mktemp("reports") / "shop")
    images = made.read("images")
    images["product_id"] = images["product_id"].where(images["product_id"] != "p1", EVIL)
    images["category"] = np.where(np.arange(len(images)) % 2, EVIL, "bag")
    made.write(images, "images", Provenance("images.import"))
    made.image_root.mkdir(exist_ok=True)
    for name in images["path"][:40]:
        Image.new("RGB", (40, 30), "teal").save(made.image_root / name, "PNG")
    codes = np.random.default_rng(0).choice([-1, 1], (len(images), 8)).astype(np.int8)
    spec = {"loader": "hash", "base": {"model": "m0"}, "objective": "itq"}
    model = Model("codes", spec, 8, "bits", "hamming", "", "")
    write(made.path("embeddings", "codes"), model, images["image_id"].tolist(), pack(codes))
    notes = {"recall": 0.91, "compared": 14}
    careless = Provenance(
        "neighbors.mine", {}, params={"k": 12, "search": "faiss-ivf", "allow_low_recall": True}, notes=notes
    )
    made.write(made.read("neighbors", "m1"), "neighbors", careless, "m1")
    judged(made)
    return made


def judged(project: Project) -> None:
    """Three experts say what the truth says, but for some."""
    truth = project.read("truth").set_index(PAIR)["value"]
    people = [EVIL, "ann", "bob"]
    store = open_store(project.path("labels"))
    for name in people:
        add_expert(store, name)
    create_campaign(store, Plan("all", guideline=EVIL), truth.index.to_frame(index=False), people)
    for number, name in enumerate(people):
        tasks = next_batch(store, "all", name, 1000)
        acts = [
            Judgement(
                f"{number}-{task.assignment}",
                task.assignment,
                int(truth[task.query_id, task.candidate_id]) ^ (place % 7 == number),
                2.0,
            )
            for place, task in enumerate(tasks)
        ]
        submit(store, name, acts, session_id=name[:8])
    store.close()


@pytest.fixture(scope="module")
def answer(project: Project) -> dict[str, Any]:
    done = run(project, "--json", "--slice", "category", "--slice", "product_id")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_answer_lists_three_files_and_what_is_missing(project: Project, answer: dict[str, Any]) -> None:
    assert sorted(Path(name).name for name in answer["files"]) == ["report.csv", "report.html", "report.json"]
    assert all(Path(name).stat().st_size == size for name, size in answer["files"].items())
    assert {gap["section"] for gap in answer["missing"]} == {"scores"}  # no negatives are drawn here
    assert all("eds suspects negatives" in gap["hint"] for gap in answer["missing"])
    assert {"label-noise", "codes", "judged", "pairs"} <= set(answer["sections"])


def test_hostile_names_stay_text(project: Project, answer: dict[str, Any]) -> None:
    page = (project.root / "report.html").read_text(encoding="utf-8")

    class Reader(HTMLParser):
        scripts, texts, handlers = 0, "", 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.scripts += tag == "script"
            self.handlers += any(name.startswith("on") for name, _ in attrs)

        def handle_data(self, data: str) -> None:
            self.texts += data

    reader = Reader()
    reader.feed(page)
    assert (reader.scripts, reader.handlers) == (1, 0)
    assert EVIL not in page
    assert reader.texts.count(EVIL) > 4  # category, product, expert, guideline
    sections = sections_of(project)
    assert EVIL in [row["expert_id"] for row in sections["agreement"]["experts"]["rows"]]
    assert EVIL in [row["kind"] for row in sections["slices"]["kinds_1"]["rows"]]


def test_pictures_are_embedded_and_missing_ones_say_why(project: Project, answer: dict[str, Any]) -> None:
    page = (project.root / "report.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/jpeg;base64,') > 3
    assert "cannot be shown" in page
    done = run(project, "--no-pictures", "--out", str(project.root / "plain.html"))
    assert done.exit_code == 0, done.output
    assert "data:image/jpeg" not in (project.root / "plain.html").read_text(encoding="utf-8")


def test_numbers_are_those_of_eds_metrics_score(project: Project, answer: dict[str, Any]) -> None:
    """The labels of random pairs left out, the command that scores gives the same values."""
    sections = sections_of(project)
    suspects, truth = project.read("suspects"), project.read("truth")
    pool = suspects.loc[suspects["origin"] == "pool", PAIR]
    kept = truth.merge(pool.drop_duplicates(), on=PAIR)
    assert 0 < len(kept) < len(truth)
    project.write(kept[tables.TRUTH.names], "truth", Provenance("truth.decide"))
    try:
        words = [
            "metrics",
            "score",
            "-p",
            str(project.root),
            "--json",
            "--resamples",
            "20",
            "-M",
            "VSD-HR@5",
            "-M",
            "ROC-AUC(average=macro,negatives=annotated)",
            "-m",
            "m0",
            "-m",
            "m1",
            "-m",
            "new",
        ]
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
    finally:
        project.write(truth, "truth", Provenance("truth.decide"))
        project.path("scores").unlink(missing_ok=True)
    rows = pd.DataFrame(json.loads(done.stdout)["scores"])
    for section, key, name in (
        ("scores", "lists_5", "VSD-HR@5"),
        ("scores", "auc_annotated", "ROC-AUC(average=macro,negatives=annotated)"),
    ):
        mine = {row["model"]: row[name] for row in sections[section][key]["rows"]}
        theirs = rows[rows["measure"] == name].set_index("model")["value"].to_dict()
        assert set(theirs) == {"m0", "m1", "new"}
        assert {model: mine[model] for model in theirs} == theirs


def test_an_approximate_search_and_codes_are_reported(project: Project, answer: dict[str, Any]) -> None:
    sections = sections_of(project)
    searches = {row["model"]: row for row in sections["judged"]["searches"]["rows"]}
    assert searches["m1"] == {
        "name": "m1",
        "model": "m1",
        "search": "faiss-ivf",
        "k": 12,
        "recall": 0.91,
        "compared": 14,
        "allowed": True,
    }
    assert any("--allow-low-recall" in block.get("text", "") for block in sections["judged"].values())
    specs = {row["model"]: row["spec"] for row in sections["judged"]["models"]["rows"]}
    assert specs["codes"] == "hash itq of m0"
    rows = sections["codes"]["map"]["rows"]
    assert {row["bits"] for row in rows} == {8}
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)


def test_pictures_of_codes_show_how_they_are_filled_and_what_is_nearest(
    project: Project, answer: dict[str, Any]
) -> None:
    section = sections_of(project)["code-pictures"]
    images = project.read("images").set_index("image_id")
    bits = (Vectors.open(project.path("embeddings", "codes")).gather(images.index.tolist()) > 0).astype(int)
    code = dict(zip(images.index, bits.tolist(), strict=True))
    offered = images.index[images["role"] != "query"]
    fill = np.bincount([int(np.dot(code[name], 1 << np.arange(8))) for name in offered], minlength=256)
    document = json.loads((project.root / "report.json").read_text(encoding="utf-8"))
    drawn = next(part for part in document["sections"] if part["key"] == "code-pictures")["blocks"][0]
    assert sorted(drawn["data"]["fills"][0]) == sorted(fill.tolist())
    strips = [block for block in section.values() if block["kind"] == "strips"]
    assert len(strips) == 2
    for block in strips:
        query = block["query_id"]
        apart = {name: int(np.sum(np.array(code[name]) != code[query])) for name in offered if name != query}
        found = block["strips"][0]["found"]
        assert [entry["distance"] for entry in found] == sorted(apart.values())[: len(found)]
        assert all(apart[entry["image_id"]] == entry["distance"] for entry in found)
        same = [images["category"][entry["image_id"]] == images["category"][query] for entry in found]
        assert [entry["similar"] for entry in found] == same
    page = (project.root / "report.html").read_text(encoding="utf-8")
    assert page.count('class="strip"') == 2


def test_a_page_must_be_named_as_html(project: Project) -> None:
    done = run(project, "--out", "report.txt")
    assert isinstance(done.exception, InputError)
    assert "report.txt" in done.exception.what


def test_an_empty_project_gets_a_page_that_says_what_is_missing(tmp_path: Path) -> None:
    empty = Project.create(tmp_path / "empty")
    done = run(empty, "--json")
    assert done.exit_code == 0, done.output
    gaps = {gap["missing"] for gap in json.loads(done.stdout)["missing"]}
    assert "There is no table images yet." in gaps
    document = json.loads((empty.root / "report.json").read_text(encoding="utf-8"))
    (steps,) = document["sections"][0]["blocks"]  # the first screen says what to do, and nothing else
    assert steps["steps"][0]["command"].startswith("eds images scan")
