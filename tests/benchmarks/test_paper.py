"""The digitised tables: what they hold, what is doubted, and what their bias analysis shows, held against scipy."""

import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

from eds.analysis import group_means, order_agreement
from eds.benchmarks.reproduce.compare_cells import format_number
from eds.benchmarks.reproduce.paper import GENERATORS, TASKS, WILD, ZERO_SHOT, cells, known_model, paper, printed_table

RAW = json.loads(files("eds.benchmarks.reproduce").joinpath("paper_tables.json").read_text(encoding="utf-8"))


def test_the_package_carries_the_one_copy() -> None:
    root = Path(__file__).parents[2]
    copies = [path for folder in ("eds", "data") for path in (root / folder).rglob("paper_tables*")]
    assert [path.relative_to(root).as_posix() for path in copies] == ["eds/benchmarks/reproduce/paper_tables.json"]
    assert "eds/benchmarks/reproduce/paper_tables.json" in (root / "data/README.md").read_text(encoding="utf-8")


def printed(*key: Any) -> dict[Any, Any]:
    """The cell of a table, label and column."""
    found = cells()
    row = found[(found["table"] == key[0]) & (found["label"] == key[1]) & (found["column"] == key[2])]
    return dict(*row.to_dict(orient="records"))


def test_every_printed_number_is_a_cell_with_its_decimals() -> None:
    found = cells()
    assert found["table"].value_counts().to_dict() == {1: 4, 2: 30, 3: 48, 4: 24, 5: 168, 6: 168, 7: 48, 8: 48}
    assert set(found["task"]) == {ZERO_SHOT, WILD} <= set(TASKS)
    expected: list[tuple[tuple[Any, ...], float, int, str]] = [
        ((5, "Argus CAT", "HR@9"), 7.23, 2, "percent"),
        ((3, "AS ID+C", "micro_sc"), 1.0, 2, "one"),
        ((3, "AS", "micro_p"), 0.042, 3, "one"),
        ((1, "Wild", "annotated_pairs"), 64046, 0, "count"),
        ((8, "SwAG", "ROC_macro"), 78.5, 1, "percent"),
    ]
    for key, value, decimals, unit in expected:
        told = printed(*key)
        assert (told["printed"], told["decimals"], told["unit"]) == (value, decimals, unit)
    labels = RAW["tables"]["2"]["columns"]
    assert all(printed(2, a, b)["printed"] == printed(2, b, a)["printed"] for a in labels for b in labels if a != b)


def test_what_is_doubted_names_cells_that_exist() -> None:
    known = cells()
    for one in paper().doubts:
        mine = known[known["table"] == one["table"]]
        assert set(one.get("labels", ())) <= set(mine["label"])
        assert set(one["columns"]) <= {*mine["column"], "generator"}
        assert one["kind"] in ("value", "reading")
    of = known[(known["table"] == 5) & (known["doubt"] == "value")]
    assert set(of["label"]) == {"Argus CAT"}
    twin = known[(known["table"] == 5) & (known["label"] == "Argus ID+C")].set_index("column")["printed"]
    assert of["printed"].tolist() == [twin[column] for column in of["column"]]


def test_names_of_models_are_known_in_every_writing() -> None:
    made = cells().query("table == 5 and generator == True")["model"]
    assert tuple(dict.fromkeys(made)) == GENERATORS
    assert all(known_model(label) == name == known_model(name) for label, name in paper().models.items())
    assert [known_model(text) for text in ("argus id+c", "DINO_FT", "b-16", "my model")] == [
        "argus_id_c",
        "dino_ft",
        "vit",
        "my model",
    ]


def by_hand(number: int, column: str) -> tuple[float, float, float]:
    """Means of generators and new models, and tau_b of the column with HR@5, from the file as it stands."""
    rows: list[dict[str, Any]] = RAW["tables"][str(number)]["rows"]
    means = [
        math.fsum(row[column] for row in rows if row["generator"] is side)
        / sum(row["generator"] is side for row in rows)
        for side in (True, False)
    ]
    tau = kendalltau([row["HR@5"] for row in rows], [row[column] for row in rows]).statistic
    return means[0], means[1], tau


@pytest.mark.parametrize(
    ("number", "expected"), [(5, ("86.6", "34.3", "67.4", "70.6", "0.00")), (6, (*[None] * 4, "0.47"))]
)
def test_hr_tells_who_made_the_pool_and_auc_does_not(number: int, expected: tuple[str | None, ...]) -> None:
    table = printed_table((number,))
    assert len(table) == 14
    told = []
    for name in ("HR@5", "ROC_micro_anno"):
        generators, outsiders, tau = by_hand(number, name)
        (found,) = group_means(table, [name]).to_dict(orient="records")
        assert math.isclose(found["generators"], generators)
        assert math.isclose(found["outsiders"], outsiders)
        told += [format_number(found["generators"]), format_number(found["outsiders"])]
    order = order_agreement(table, "HR@5", "ROC_micro_anno")
    assert math.isclose(order["tau_b"], tau, abs_tol=1e-12)
    told.append(format_number(order["tau_b"], 2))
    assert [one for one, wanted in zip(told, expected, strict=True) if wanted] == [one for one in expected if one]


def test_doubted_numbers_are_left_out_of_the_analysis() -> None:
    table = printed_table((5,))
    assert table.loc[table["label"] == "Argus CAT", "PR_micro_anno"].isna().all()
    assert table.loc[table["label"] == "Argus CAT", "ROC_micro_anno"].tolist() == [67.5]
    both = printed_table((5, 7))
    assert len(both) == 22
    assert set(both.columns) == {
        "label",
        "generator",
        "HR@5",
        "MRR@5",
        "ROC_micro_anno",
        "ROC_macro_anno",
        "PR_micro_anno",
        "PR_macro_anno",
    }
    assert both.loc[both["label"] == "SwAG", "ROC_micro_anno"].tolist() == [75.4]
