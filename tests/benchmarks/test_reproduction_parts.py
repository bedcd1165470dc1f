"""The parts of a reproduction: verdicts, files told apart, models in folders, lists by the rules, model index."""

import json
from decimal import ROUND_HALF_UP, Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from eds.benchmarks.reproduce.compare_cells import (
    Computed,
    compare_cells,
    count_verdicts,
    format_number,
    missing_cells,
    render_markdown,
)
from eds.benchmarks.reproduce.model_files import count_unscored, find_runs, find_vectors, official_lists, read_runs
from eds.benchmarks.reproduce.model_index import eval_results, model_index
from eds.benchmarks.reproduce.paper import TASKS, WILD, ZERO_SHOT, cells, paper
from eds.benchmarks.reproduce.release_files import find_files
from eds.errors import InputError
from eds.images.readers.vsd import kind
from tests.reference.official_vsd import ranking

ONE = (5, "DINO", "HR@5")


@given(st.integers(0, 1000), st.integers(-300, 300))
def test_agrees_where_ours_rounds_to_the_printed_number(printed: int, away: int) -> None:
    cell = cells().query("table == 5 and label == 'DINO' and column == 'HR@5'").assign(printed=printed / 10)
    ours = printed / 10 + away / 100
    verdict = compare_cells(cell, {ONE: Computed(ours)})["verdict"].item()
    assert verdict == ("agrees" if abs(away) <= 5 else "close" if abs(away) <= 100 else "differs")


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ((1, "Wild", "queries"), 2000.0, "agrees"),
        ((1, "Wild", "queries"), 2000.4, "differs"),
        ((3, "AS", "micro_sc"), 0.8286, "agrees"),
        ((3, "AS", "micro_sc"), 0.8386, "close"),
        ((3, "AS", "micro_sc"), 0.85, "differs"),
        ((3, "AS", "macro_sc"), 0.75, "doubtful"),
        ((5, "Argus CAT", "PR_micro_neg"), 95.1, "doubtful"),
        ((5, "DINO", "HR@5"), float("nan"), "not computed"),
    ],
)
def test_verdicts_by_unit_and_doubt(key: tuple[int, str, str], value: float, verdict: str) -> None:
    (found,) = [
        one
        for one in compare_cells(cells(), {key: Computed(value, 7, "so")}).to_dict(orient="records")
        if one["n"] == 7
    ]
    assert (found["table"], found["label"], found["column"]) == key
    assert (found["verdict"], found["note"]) == (verdict, "so")
    doubt = cells().set_index(["table", "label", "column"]).sort_index().loc[key, "why"]
    assert found["why"] == ("undefined" if verdict == "not computed" else doubt)
    assert (doubt != "") >= (verdict == "doubtful")


def test_reasons_are_counted_and_every_table_is_written() -> None:
    table = compare_cells(cells(), {ONE: Computed(91.0), (5, "CLIP", "HR@5"): Computed(why="<none> | here")})
    counts = count_verdicts(table)
    assert counts[counts["table"] == 5].to_numpy().tolist() == [[5, 0, 1, 0, 0, 167]]
    gone = missing_cells(table)
    assert ["<none> | here", 1, "5", "CLIP"] in gone.to_numpy().tolist()
    assert gone["cells"].sum() == len(table) - 1
    text = render_markdown(table, paper(), {"a_task": ["told <b>"]})
    assert "91.0 (91.9; -0.9) \\~" in text
    assert "<none>" not in text
    assert "<b>" not in text
    assert text.count("\n## Table ") == 8


@given(st.decimals(-1000, 1000, places=3))
def test_rounding_goes_half_up_by_the_decimal_digits(value: Decimal) -> None:
    right = value.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP)
    assert format_number(float(value)) == str(right if right else abs(right))


def put(folder: Path, **content: Any) -> None:
    for name, told in content.items():
        file = folder / f"{name.replace('__', '/')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(told), encoding="utf-8")


META, TAGS, SEEDS = {"images": [{"id": "p", "path": "a.jpg"}]}, [{"key": ["a", "b"], "value": 1}], {"seeds": ["a"]}


def test_files_are_told_by_shape_and_task(tmp_path: Path) -> None:
    put(
        tmp_path, all=META, **{f"{ZERO_SHOT}__tags": TAGS, f"x__{WILD}_s": SEEDS, f"{WILD}-gt": TAGS, "other": {"a": 1}}
    )
    put(tmp_path / "out", metadata=META)
    found, gone = find_files(tmp_path, TASKS, {}, kind, tmp_path / "out")
    assert set(found) == {ZERO_SHOT, WILD}
    assert found[WILD].seeds == tmp_path / f"x/{WILD}_s.json"
    assert found[WILD].annotations == tmp_path / f"{WILD}-gt.json"
    assert found[ZERO_SHOT].seeds is None
    assert {one.metadata for one in found.values()} == {tmp_path / "all.json"}
    assert set(gone.values()) == {"no file of annotations"}


def test_files_without_a_task_serve_only_the_one_that_is_asked_for(tmp_path: Path) -> None:
    put(tmp_path, meta=META, tags=TAGS, seeds=SEEDS)
    found, _ = find_files(tmp_path, [WILD], {}, kind)
    assert found[WILD].annotations == tmp_path / "tags.json"
    with pytest.raises(InputError, match="ambiguous") as caught:
        find_files(tmp_path, TASKS, {}, kind)
    assert any("tags.json" in fault for fault in caught.value.faults)
    within, _ = find_files(_moved(tmp_path, WILD), TASKS, {}, kind)
    assert set(within) == {WILD}


def _moved(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    for file in folder.glob("*.json"):
        file.rename(folder / name / file.name)
    return folder / name


def test_two_files_of_a_kind_are_never_chosen_between(tmp_path: Path) -> None:
    put(tmp_path, meta=META, one=TAGS, two=TAGS)
    with pytest.raises(InputError, match="ambiguous") as caught:
        find_files(tmp_path, [ZERO_SHOT], {}, kind)
    assert "2 files of annotations" in caught.value.faults[0]
    found, _ = find_files(tmp_path, [ZERO_SHOT], {"annotations": tmp_path / "one.json"}, kind)
    assert found[ZERO_SHOT].annotations == tmp_path / "one.json"


def test_vectors_are_found_with_their_ids(tmp_path: Path) -> None:
    for name in ("Argus ID+C.npy", "dino.npz", "clip.parquet", "ids.txt", "dino.csv", "clip.ids.parquet", "notes.md"):
        (tmp_path / name).touch()
    found = find_vectors(tmp_path, WILD)
    assert list(found) == ["argus_id_c", "clip", "dino"]
    assert found["argus_id_c"].ids == tmp_path / "ids.txt"
    assert found["dino"].ids == tmp_path / "dino.csv"
    assert found["clip"].ids == tmp_path / "clip.ids.parquet"
    (tmp_path / "argus_id_c.npy").touch()
    with pytest.raises(InputError, match="several files of model argus_id_c"):
        find_vectors(tmp_path, WILD)


def test_runs_are_read_with_the_papers_names(tmp_path: Path) -> None:
    (tmp_path / WILD / "runs").mkdir(parents=True)
    (tmp_path / WILD / "runs" / "BEiT_CAT.run").write_text("q Q0 b 1 0.9 t\nq Q0 a 2 0.5 t\n", encoding="utf-8")
    run = read_runs(*find_runs(tmp_path, WILD))["beit_cat"]
    assert run[["model", "query_id", "candidate_id", "rank"]].to_numpy().tolist() == [
        ["beit_cat", "q", "b", 0],
        ["beit_cat", "q", "a", 1],
    ]
    with pytest.raises(InputError, match="holds no TREC runs"):
        find_runs(tmp_path, ZERO_SHOT)


@given(st.integers(0, 2**32 - 1))
def test_lists_of_a_run_are_the_official_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"i{number}" for number in range(9)]
    product = {name: f"p{rng.integers(0, 4)}" for name in names}
    roles = rng.choice(["query", "candidate", "both"], len(names))
    images = pd.DataFrame({"image_id": names, "product_id": [product[name] for name in names], "role": roles})
    score = {(a, b): float(rng.integers(0, 4)) for a in names for b in names}
    rows = [("m", a, b, 0, score[a, b]) for a, b in score]
    columns = ["model", "query_id", "candidate_id", "rank", "score"]
    run = pd.DataFrame([rows[place] for place in rng.permutation(len(rows))], columns=columns)
    lists = official_lists(run, images)
    gallery = [name for name, role in zip(names, roles, strict=True) if role != "query"]
    for name, role in zip(names, roles, strict=True):
        mine = lists[lists["query_id"] == name]
        wanted = ranking(name, gallery, score, product, 9) if role != "candidate" else []
        assert mine["candidate_id"].tolist() == wanted
        assert mine["rank"].tolist() == list(range(len(wanted)))


def test_strange_ids_and_lacking_scores_are_told() -> None:
    images = pd.DataFrame(
        {"image_id": ["q", "a", "b"], "product_id": ["q", "a", "b"], "role": ["query", "candidate", "query"]}
    )
    run = pd.DataFrame({"model": "m", "query_id": ["q"], "candidate_id": ["a"], "rank": 0, "score": 1.0})
    pairs = pd.DataFrame({"query_id": ["q", "b", "q"], "candidate_id": ["a", "a", "b"]})
    assert count_unscored(run, pairs, images) == 1  # b is not a candidate, so that pair needs none
    with pytest.raises(InputError, match="metadata do not have: z"):
        official_lists(run.assign(candidate_id="z"), images)


def test_the_model_index_is_read_by_the_hub() -> None:
    hub = import_module("huggingface_hub.repocard_data")
    text = model_index('a: "b" #c', {WILD: [("HR@5", 12.5, "VSD-HR@5"), ("PR-AUC", float("nan"), "x")], ZERO_SHOT: []})
    name, results = hub.model_index_to_eval_results(yaml.safe_load(text)["model-index"])
    assert name == 'a: "b" #c'
    assert [(one.metric_type, one.metric_value, one.dataset_config, one.dataset_type) for one in results] == [
        ("HR@5", 12.5, WILD, "vsd-benchmark/vsd-fashion")
    ]


def test_eval_results_are_read_by_the_hub() -> None:
    hub = import_module("huggingface_hub")
    files = eval_results(
        {
            WILD: [("HR@5", 12.5, "VSD-HR@5"), ("PR-AUC", float("nan"), "x")],
            ZERO_SHOT: [("HR@5", 3.0, "VSD-HR@5"), ("ROC-AUC", 70.25, "ROC-AUC(average=micro)")],
        }
    )
    assert sorted(files) == ["vsd-fashion-hr-5.yaml", "vsd-fashion-roc-auc.yaml"]
    found = {name: hub.parse_eval_result_entries(yaml.safe_load(text)) for name, text in files.items()}
    assert [(one.dataset_id, one.task_id, one.value, one.notes) for one in found["vsd-fashion-hr-5.yaml"]] == [
        ("vsd-benchmark/vsd-fashion", WILD, 12.5, "HR@5 (VSD-HR@5)"),
        ("vsd-benchmark/vsd-fashion", ZERO_SHOT, 3.0, "HR@5 (VSD-HR@5)"),
    ]
    (area,) = found["vsd-fashion-roc-auc.yaml"]
    assert (area.task_id, area.value) == (ZERO_SHOT, 70.25)
    for name, entries in found.items():
        assert hub.eval_result_entries_to_yaml(entries) == yaml.safe_load(files[name])
