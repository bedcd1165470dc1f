"""`eds benchmarks reproduce vsd` on a drawn release: every cell against slow loops, other sources, faults, resuming."""

import json
import math
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml  # type: ignore[import-untyped]
from PIL import Image

from eds.benchmarks.reproduce.paper import cells
from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.project.reproduce.models import ModelChoice, plan_models
from eds.project.reproduce.vsd import Release, Settings, reproduce_vsd
from tests.benchmarks.vsd_reproduction import GENERATORS, WILD, ZERO, draw, write
from tests.reference.reproduction import MAKERS, Slow

PHASES = {"gallery_phases": "gallery,train"}


@pytest.fixture(scope="module")
def drawn() -> dict[str, Any]:
    return draw()


@pytest.fixture(scope="module")
def place(drawn: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(drawn, tmp_path_factory.mktemp("vsd"))


def reproduce(out: Path, **options: Any) -> dict[str, Any]:
    """The document that reproduction.json keeps; options go to the release, the models and the settings by name."""
    release, models, settings = (
        {part.name: options.pop(part.name) for part in fields(kind) if part.name in options}
        for kind in (Release, ModelChoice, Settings)
    )
    assert not options
    result = reproduce_vsd(out, Release(**release), ModelChoice(**models), Settings(resamples=0, **settings))
    told: dict[str, Any] = json.loads((out / "reproduction.json").read_text(encoding="utf-8"))
    assert result.to_dict() == told
    return told


@pytest.fixture(scope="module")
def done(place: Path) -> dict[str, Any]:
    return reproduce(place / "out", root=place / "release", embeddings=place / "vectors", **PHASES)


def slow(drawn: dict[str, Any], task: str) -> Slow:
    images = drawn["files"]["metadata.json"]["images"]
    gallery = [one["path"] for one in images] if task == ZERO else drawn["shops"]
    labels = [(*one["key"], one["value"]) for one in drawn["files"][f"{task}/annotations.json"]]
    product = {one["path"]: one["id"] for one in images}
    return Slow(drawn["vectors"], product, drawn["files"][f"{task}/seeds.json"]["seeds"], gallery, labels)


def by_cell(done: dict[str, Any]) -> dict[tuple[int, str, str], dict[str, Any]]:
    return {(one["table"], one["model"] or one["label"], one["column"]): one for one in done["cells"]}


@pytest.mark.parametrize(("task", "tables"), [(ZERO, (5, 7)), (WILD, (6, 8))])
def test_the_columns_of_every_model_are_those_of_slow_loops(
    done: dict[str, Any], drawn: dict[str, Any], task: str, tables: tuple[int, int]
) -> None:
    found, right = by_cell(done), slow(drawn, task)
    for table, models in zip(tables, ((*GENERATORS, "dino_ft"), ("resnet50",)), strict=True):
        for model in models:
            for column, value in right.columns(model).items():
                name = column if table < 7 else column.removesuffix("_anno")
                if table > 6 and (name.endswith("_neg") or name.endswith("@9")):
                    continue
                cell = found[table, model, name]
                assert math.isclose(cell["ours"], value, abs_tol=1e-9), (model, name)
                assert math.isclose(cell["difference"], value - cell["printed"], abs_tol=1e-9)


def test_counts_overlap_leave_one_out_and_recognition(done: dict[str, Any], drawn: dict[str, Any]) -> None:
    found, right = by_cell(done), slow(drawn, ZERO)
    assert found[1, "Discovery", "queries"]["ours"] == 12
    assert found[1, "Wild", "annotated_pairs"]["ours"] == len(drawn["files"][f"{WILD}/annotations.json"])
    assert math.isclose(found[2, "beit", "ID+C"]["ours"], right.overlap("beit", "argus_id_c", 6), abs_tol=1e-9)
    assert math.isclose(found[2, "argus", "DINO"]["ours"], right.overlap("argus", "dino", 6), abs_tol=1e-9)
    for average in ("micro", "macro"):
        for model, wanted in right.left_out(average, 6).items():
            ours = [found[3, model, f"{average}_{what}"]["ours"] for what in ("auc_mean", "auc_std", "sc", "p")]
            assert np.allclose(ours, wanted, atol=1e-9)
    for model in MAKERS:
        for k in (5, 9):
            values = (found[4, model, f"{name}@{k}"]["ours"] for name in ("HR", "MRR"))
            assert np.allclose(list(values), right.recognition(model, k), atol=1e-9)


def test_every_printed_cell_is_there_with_a_verdict_or_a_reason(done: dict[str, Any]) -> None:
    told = pd.DataFrame(done["cells"])
    assert list(zip(told["table"], told["label"], told["column"], strict=True)) == list(
        cells()[["table", "label", "column"]].itertuples(index=False, name=None)
    )
    gone = told[told["ours"].isna()]
    assert set(gone["verdict"]) == {"not computed"}
    assert (gone["why"] != "").all()
    assert sum(one["cells"] for one in done["not_computed"]) == len(gone)
    assert set(gone["model"]).isdisjoint({*GENERATORS, "dino_ft", "resnet50"})


def test_what_is_written(done: dict[str, Any], drawn: dict[str, Any], place: Path) -> None:
    out = place / "out"
    assert set(done["not_run"]) == {"in_catalog_open_catalog", "in_catalog_closed_catalog"}
    for name in done["files"]:
        assert (out / name).stat().st_size
    text = (out / "tables.md").read_text(encoding="utf-8")
    assert all(f"## Table {number}. " in text for number in range(1, 9))
    rows = pd.read_csv(out / WILD / "evaluator.csv").set_index("model")
    right = slow(drawn, WILD).columns("dino")
    right |= {"ROC-AUC": right["ROC_micro_anno"], "PR-AUC": right["PR_micro_anno"]}
    columns = ["HR@5", "HR@9", "MRR@5", "MRR@9", "ROC-AUC", "PR-AUC"]
    assert list(rows.columns) == columns
    assert np.allclose(rows[rows.index == "dino"].to_numpy(), [[right[name] for name in columns]])
    card = yaml.safe_load((out / "model-index" / "dino.yaml").read_text(encoding="utf-8"))["model-index"][0]
    assert [one["dataset"]["config"] for one in card["results"]] == [ZERO, WILD]
    first = {one["type"]: one["value"] for one in card["results"][1]["metrics"]}
    assert first["ROC-AUC"] == pytest.approx(rows.loc["dino", "ROC-AUC"], abs=1e-6)
    (area,) = (out / "eval-results" / "dino").glob(".eval_results/vsd-fashion-roc-auc.yaml")
    told = yaml.safe_load(area.read_text(encoding="utf-8"))
    assert [one["dataset"]["task_id"] for one in told] == [ZERO, WILD]
    assert told[1]["value"] == first["ROC-AUC"]
    report = (out / ZERO / "report.html").read_text(encoding="utf-8")
    assert "resnet50" in report
    assert "argus_id_c" in report


def test_a_second_call_makes_nothing_anew(done: dict[str, Any], place: Path) -> None:
    watched = [*(place / "out").glob("*/embeddings/*/*.npy"), *(place / "out").glob("*/neighbors/*.parquet")]
    before = {path: path.stat().st_mtime_ns for path in watched}
    assert len(before) == 32
    assert reproduce(place / "out", root=place / "release", embeddings=place / "vectors", **PHASES) == done
    assert {path: path.stat().st_mtime_ns for path in watched} == before


def test_changed_vectors_are_taken_in(done: dict[str, Any], drawn: dict[str, Any], tmp_path: Path) -> None:
    changed = {**drawn, "vectors": {"dino": drawn["vectors"]["dino"]}}
    here = write(changed, tmp_path)
    options = {"root": here / "release", "embeddings": here / "vectors", "task": ZERO}
    first = by_cell(reproduce(here / "out", **options))[5, "dino", "HR@9"]["ours"]
    ids = (here / "vectors/dino.ids.txt").read_text(encoding="utf-8").splitlines()
    (here / "vectors/dino.ids.txt").write_text("".join(f"{name}\n" for name in reversed(ids)), encoding="utf-8")
    second = by_cell(reproduce(here / "out", **options))[5, "dino", "HR@9"]["ours"]
    assert first == by_cell(done)[5, "dino", "HR@9"]["ours"]
    assert first != second


def test_whole_rankings_as_runs_give_the_same_cells(
    done: dict[str, Any], drawn: dict[str, Any], place: Path, tmp_path: Path
) -> None:
    for task in (ZERO, WILD):
        right = slow(drawn, task)
        (tmp_path / "runs" / task).mkdir(parents=True)
        for model in drawn["vectors"]:
            found = {
                query: {name: right.score(model, query, name) for name in right.gallery} for query in right.queries
            }
            (tmp_path / "runs" / task / f"{model}.json").write_text(json.dumps(found), encoding="utf-8")
    told = reproduce(tmp_path / "out", root=place / "release", runs=tmp_path / "runs", **PHASES)
    ours, theirs = (pd.DataFrame(one["cells"]) for one in (told, done))
    assert np.allclose(ours["ours"], theirs["ours"], atol=1e-9, equal_nan=True)
    assert ours["verdict"].tolist() == theirs["verdict"].tolist()


def test_the_lists_that_were_handed_on_give_hr_again_and_say_what_they_cannot(
    done: dict[str, Any], place: Path, tmp_path: Path
) -> None:
    shutil.copytree(place / "out/trec" / WILD, tmp_path / "runs" / WILD)
    told = reproduce(tmp_path / "out", root=place / "release", runs=tmp_path / "runs", **PHASES)
    again, first = by_cell(told), by_cell(done)
    for model in GENERATORS:
        for column in ("HR@5", "HR@9", "MRR@5", "MRR@9"):
            assert math.isclose(again[6, model, column]["ours"], first[6, model, column]["ours"], abs_tol=1e-9)
        assert again[6, model, "ROC_micro_anno"]["verdict"] == "not computed"
        assert "does not score every pair" in again[6, model, "ROC_micro_anno"]["why"]
    assert f"{ZERO} was not run: {tmp_path}/runs holds no TREC runs" in again[5, "dino", "HR@5"]["why"]


def test_pictures_and_backbones(tmp_path: Path) -> None:
    small = draw(models=GENERATORS, products=24, seed=3)
    here = write(small, tmp_path)
    rng = np.random.default_rng(0)
    for image in small["files"]["metadata.json"]["images"]:
        file = here / "release" / image["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (5, 5, 3)).astype(np.uint8)).resize((40, 50)).save(file)
    models = ("dino=descriptor:hsv", "descriptor:lbp", "argus")
    told = reproduce(here / "out", root=here / "release", models=models, **PHASES)
    assert all(
        one["models"] == {"dino": "embeddings", "descriptor-lbp": "embeddings"} for one in told["tasks"].values()
    )
    found = by_cell(told)
    assert found[5, "dino", "HR@5"]["ours"] is not None
    assert "no --weights DIR is given" in found[5, "argus", "HR@5"]["why"]
    assert "negatives begin at rank 100" in found[6, "dino", "PR_macro_neg"]["why"]
    rows = pd.read_csv(here / "out" / ZERO / "evaluator.csv")
    assert rows["model"].tolist() == ["dino", "descriptor-lbp"]


TYPED_PHASES = ("--gallery-phases", "gallery,train")
TMP, RELEASE, VECTORS = ("--out", "{tmp}"), ("--root", "{release}"), ("--embeddings", "{vectors}")
METADATA = "{release}/metadata.json"
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no release": (TMP, "option --root"),
    "unknown task": ((*RELEASE, *TMP, "--task", "wild"), "unknown task 'wild'"),
    "files of one task for all": ((*TMP, "--metadata", METADATA, "--annotations", METADATA), "one task"),
    "a wrong file": ((*TMP, *RELEASE, "--annotations", METADATA, "--task", ZERO), "not a list"),
    "nothing there": ((*TMP, "--root", "{vectors}"), "no files of any task"),
    "no pictures": ((*RELEASE, *TMP, *TYPED_PHASES), "none of the pictures"),
    "queries among the candidates": ((*RELEASE, *TMP, *VECTORS), "(train 150"),
    "two sources": ((*RELEASE, *TMP, *VECTORS, "--runs", "{vectors}"), "exclude each other"),
    "no vectors": ((*RELEASE, *TMP, "--embeddings", "{release}", *TYPED_PHASES), "holds no vectors"),
    "unknown model": ((*RELEASE, *TMP, "--models", "mine"), "unknown model 'mine'"),
    "a spec beside vectors": ((*RELEASE, *TMP, *VECTORS, "--models", "descriptor:hsv"), "needs to be computed"),
    "model that is not there": ((*RELEASE, *TMP, *VECTORS, "--models", "mae", *TYPED_PHASES), "nothing of mae"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused_says_what_and_what_to_do(case: str, place: Path, tmp_path: Path) -> None:
    words, told = WRONG[case]
    names = {"release": place / "release", "vectors": place / "vectors", "tmp": tmp_path / "o"}
    typed = ["benchmarks", "reproduce", "vsd", "-q", *(word.format(**names) for word in words)]
    with pytest.raises(EdsError) as caught:
        cli.main(typed, standalone_mode=False)
    assert told in str(caught.value)
    assert caught.value.hint


def test_a_model_whose_file_is_damaged_is_told_and_the_others_stay(drawn: dict[str, Any], tmp_path: Path) -> None:
    here = write({**drawn, "vectors": {name: drawn["vectors"][name] for name in ("dino", "clip")}}, tmp_path)
    (here / "vectors/clip.ids.txt").write_text("img/nobody.jpg\n", encoding="utf-8")
    told = reproduce(here / "o", root=here / "release", embeddings=here / "vectors", task=ZERO)
    found = by_cell(told)
    assert "1 ids for 233 vectors" in found[5, "clip", "HR@5"]["why"]
    assert "not requested" in found[6, "dino", "HR@5"]["why"]
    assert found[5, "dino", "HR@5"]["ours"] is not None
    assert found[3, "dino", "micro_auc_mean"]["verdict"] == "not computed"


def test_a_task_without_a_model_that_can_be_used_is_told(drawn: dict[str, Any], tmp_path: Path) -> None:
    here = write({**drawn, "vectors": {"dino": drawn["vectors"]["dino"]}}, tmp_path)
    (here / "vectors" / WILD).mkdir()
    (here / "vectors" / WILD / "dino.npy").write_bytes(b"no array")
    options = {"root": here / "release", "embeddings": here / "vectors", **PHASES}
    told = reproduce(here / "o", **options)
    assert told["not_run"][WILD] == "no model could be used"
    assert "damaged" in by_cell(told)[6, "dino", "HR@5"]["why"]
    assert by_cell(told)[5, "dino", "HR@5"]["ours"] is not None
    with pytest.raises(InputError, match="no model could be used") as caught:
        reproduce(here / "o", **options, task=WILD)
    assert "dino" in caught.value.faults[0]


def test_the_printed_tables_alone_show_the_bias(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cli.main(["benchmarks", "reproduce", "vsd-bias", "--out", str(tmp_path)], standalone_mode=False)
    text = capsys.readouterr().out
    assert "pool models have 86.6 and new models 34.3; by micro ROC-AUC 67.4 and 70.6" in text
    assert "| HR@5 | 86.6 | 34.3 |" in (tmp_path / "bias.md").read_text(encoding="utf-8")
    summaries = [line for line in text.splitlines() if line.startswith("By HR@5")]
    assert summaries[0].endswith("The two orders of the 14 models agree with Kendall's tau 0.00.")
    assert summaries[1].endswith("The two orders of the 14 models agree with Kendall's tau 0.47.")
    told = json.loads((tmp_path / "bias.json").read_text(encoding="utf-8"))["found"]
    assert [one["tables"] for one in told] == ["Table 5", "Table 6", "Tables 5 and 7", "Tables 6 and 8"]
    assert told[2]["new_models"] == 16


def test_the_papers_models_take_their_weights_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "argus_id.safetensors").touch()
    given = plan_models(ModelChoice(("paper", "Argus CAT=timm:densenet161", "descriptor:lbp"), tmp_path))
    assert f"checkpoint:{tmp_path}/argus_id.safetensors?arch=timm:densenet161" in given.specs["argus_id"]
    assert given.specs["argus_cat"] == "argus_cat=timm:densenet161"
    assert given.specs["dino"].startswith("dino=timm:vit_small_patch8_224.dino")
    assert given.specs["descriptor:lbp"] == "descriptor:lbp"
    assert "argus_densenet.pth is not in" in given.missing["argus"]
    assert "not released" in given.missing["dino_cat"]
    assert set(given.specs).isdisjoint(given.missing)


def test_other_pictures_need_another_folder(done: dict[str, Any], place: Path) -> None:
    images = place / "vectors"
    with pytest.raises(InputError, match="was made from pictures in"):
        reproduce(place / "out", root=place / "release", embeddings=place / "vectors", images=images, **PHASES)
