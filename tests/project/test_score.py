"""`project.score`, `project.analyse` and `project.report` against the command line, and one number in every place."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds import tables
from eds.cli import cli
from eds.errors import InputError
from eds.metrics import Measure
from eds.project import Project, redrawn_negatives, report, report_inputs, score
from eds.project.budget import BudgetOptions
from eds.project.inputs import Inputs
from eds.registry import ANALYSES
from eds.reports.build import build
from eds.reports.document import Table
from eds.tables import Provenance
from tests.metrics.projects import MODELS, project_in

MEASURES = ("VSD-HR@5", "RR@10", "ROC-AUC")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path / "p")


def typed(project: Project, *words: Any) -> Any:
    line = [*map(str, words), "--json", "-q", "-p", str(project.root)]
    return json.loads(CliRunner().invoke(cli, line, catch_exceptions=False).stdout)


def test_scores_are_those_of_the_command_line(project: Project) -> None:
    result = project.score([*MEASURES[:2], Measure.parse(MEASURES[2])], resamples=100, by_query=True)
    stored = project.read("scores")
    words = [word for name in MEASURES for word in ("-M", name)]
    assert result.to_dict() == typed(project, "metrics", "score", *words, "--resamples", 100, "--by-query")
    pd.testing.assert_frame_equal(project.read("scores"), stored)
    pd.testing.assert_frame_equal(result.table, stored, check_dtype=False)
    assert project.state("scores").params == {"measure": list(MEASURES), "resamples": 100, "by_query": True}


@pytest.mark.parametrize("name", ANALYSES.names())
def test_an_analysis_is_that_of_the_command_line(project: Project, name: str) -> None:
    result = project.analyse(name)
    assert result.to_dict() == typed(project, "analysis", name)
    assert json.loads(result.file.read_text(encoding="utf-8")) == result.to_dict()


def test_a_budget_is_that_of_the_command_line(project: Project) -> None:
    assert project.budget().to_dict() == typed(project, "analysis", "budget")
    given = BudgetOptions(queries=10, images=60, models=2, hourly=20.0)
    assert project.budget(given).to_dict() == typed(
        project, "analysis", "budget", "--queries", 10, "--images", 60, "--models", 2, "--hourly", 20
    )


def test_an_unknown_option_of_an_analysis_is_refused(project: Project) -> None:
    with pytest.raises(InputError, match="unknown option depth"):
        project.analyse("bias", depth=3)


def shown(project: Project) -> dict[tuple[str, str], tuple[float | None, ...]]:
    """The values, intervals and ceilings in the report's tables of scores."""
    document = json.loads((project.root / "report.json").read_text(encoding="utf-8"))
    (section,) = (part for part in document["sections"] if part["key"] == "scores")
    found: dict[tuple[str, str], tuple[float | None, ...]] = {}
    for block in section["blocks"]:
        for row in block.get("rows", ()) if block["kind"] == "table" else ():
            names = [name for name in row if f"{name} low" in row]
            fields = ("", " low", " high", " ceiling")
            found |= {(row["model"], name): tuple(row.get(name + field) for field in fields) for name in names}
    return found


def test_the_report_prints_the_numbers_of_table_scores(project: Project) -> None:
    """Also where the table was changed by hand: the report reads it, and computes only what it lacks.

    A lower bound has its ceiling instead of an interval.
    """
    comparison = project.score(MEASURES, resamples=50).comparison
    made_by = tables.read_provenance(project.path("scores"), tables.SCORES)[0]
    changed = project.read("scores").assign(low=lambda rows: rows["low"] - 0.125)
    project.write(changed, "scores", made_by)
    project.report(resamples=50, pictures=False)
    numbers = shown(project)
    common = [row for row in changed.to_dict(orient="records") if (row["model"], row["measure"]) in numbers]
    assert {row["model"] for row in common} == set(MODELS)
    lower_bounds = 0
    for row in common:
        item = comparison[Measure.parse(row["measure"])][row["model"]]
        bounds = (None, None, item.ceiling) if item.lower_bound else (row["low"], row["high"], None)
        assert numbers[row["model"], row["measure"]] == (row["value"], *bounds)
        lower_bounds += item.lower_bound
    assert 0 < lower_bounds < len(common)
    assert len(numbers) > len(common)
    project.report(resamples=0, pictures=False)  # other intervals than the table's are not taken from it
    assert {low for _, low, _, _ in shown(project).values()} == {None}


def test_a_report_scores_first_where_scores_are_missing_or_stale(project: Project) -> None:
    project.report(resamples=50, pictures=False)
    made = project.read("scores")
    assert set(made["model"]) == set(MODELS)
    assert project.state("scores").condition == "fresh"
    project.score(["RR@10"], models=["m0"], resamples=20)
    project.write(project.read("truth").iloc[1:], "truth", Provenance("truth.decide"))
    assert project.state("scores").condition == "stale"
    project.report(resamples=50, pictures=False)
    state = project.state("scores")
    assert (state.condition, state.params) == (
        "fresh",
        {"measure": ["RR@10"], "model": ["m0"], "resamples": 20},
    )
    assert {model for model, _ in shown(project)} == set(MODELS)


def test_refresh_makes_only_what_is_missing_or_stale(project: Project) -> None:
    assert score.refresh(project) is not None
    assert score.refresh(project) is None
    made = report.refresh(project)
    assert made is not None
    assert report.refresh(project) is None
    project.score("RR@10", resamples=10)
    assert score.refresh(project) is None
    assert report.refresh(project) is not None, "table scores has changed"
    project.write(project.read("truth").iloc[1:], "truth", Provenance("truth.decide"))
    again = score.refresh(project)
    assert again is not None
    assert set(again.table["measure"]) == {"RR@10"}
    project.path("truth").unlink()
    assert score.refresh(project) is None, "nothing to score"


def test_every_table_is_read_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[str] = Counter()
    read = tables.read

    def counted(path: Path, *given: Any, **named: Any) -> pd.DataFrame:
        reads[path.name] += 1
        return read(path, *given, **named)

    monkeypatch.setattr(tables, "read", counted)
    project.score(resamples=0)
    assert {name: reads.pop(name) for name in ("images.parquet", "suspects.parquet", "truth.parquet")} == {
        "images.parquet": 1,
        "suspects.parquet": 1,
        "truth.parquet": 1,
    }
    assert reads == {"ids.parquet": len(MODELS)}
    reads.clear()
    project.report(resamples=0, pictures=False)
    assert {reads.pop(f"{name}.parquet") for name in ("images", "suspects", "truth", "scores")} == {1}
    assert reads == {"ids.parquet": len(MODELS)}


def test_a_result_shows_models_by_measures(project: Project) -> None:
    result = project.score(MEASURES, resamples=50)
    assert list(result.summary.columns) == ["model", "part", *MEASURES[:2], f"{MEASURES[2]}, self-removed"]
    parts = dict(zip(result.summary["model"], result.summary["part"], strict=True))
    assert parts == {"m0": "pool", "m1": "pool", "new": "new"}
    assert "<table" in result._repr_html_()


def test_where_no_measure_is_named_few_are_shown_and_all_are_scored(project: Project) -> None:
    result = project.score(resamples=0)
    assert len(result.summary.columns) <= 6  # model, part, a handful of measures
    assert len(result.tabulate(result.measures).columns) == 2 + len(result.measures) > 10
    assert set(result.table["measure"]) == {str(measure) for measure in result.measures}
    named = project.score("vsd", resamples=0)
    assert len(named.summary.columns) == 2 + len(named.measures)
    typed = ["metrics", "score", "-p", str(project.root), "-q", "--resamples", "0"]
    short, full = (
        CliRunner().invoke(cli, [*typed, *more], env={"COLUMNS": "160"}).output for more in ([], ["--explain"])
    )
    assert len(short.splitlines()) <= 1 + 3 + 3  # a heading, three models, three lines
    assert "Success@9" in full
    assert "Success@9" not in short


def test_the_comparison_is_that_of_the_library_and_of_the_printed_table(project: Project) -> None:
    result = project.score(MEASURES, resamples=50)
    comparison = result.comparison
    assert comparison.generators == ("m0", "m1")
    assert comparison.newcomers == ("new",)
    whole = {(row["model"], row["measure"]): row for row in result.rows()}
    table = result.summary.set_index("model")
    for part, heading in zip(comparison, table.columns[1:], strict=True):
        for item in part.models:
            row = whole[item.model, str(part.measure)]
            assert row["value"] == pytest.approx(item.value, abs=1e-12)
            assert row["side"] == item.side
            cell = str(table.loc[item.model, heading])
            assert cell.endswith("*") is item.best
            shown = item.self_removed if part.on_reduced_pools else item.value
            percent = part.measure.name == "VSD-HR"
            assert cell.startswith(f"{100 * shown:.1f}" if percent else f"{shown:.3f}")
    by_hits = comparison["VSD-HR@5"]
    assert by_hits["new"].lower_bound
    assert not by_hits["new"].ranked
    assert comparison[MEASURES[2]]["new"].ranked
    assert [item.measure for item in result.fairness] == [str(part.measure) for part in comparison]
    document = typed(project, "metrics", "score", *[w for name in MEASURES for w in ("-M", name)], "--resamples", 50)
    assert [part["measure"] for part in document["comparison"]["measures"]] == [str(p.measure) for p in comparison]


def test_negatives_are_drawn_again_for_a_model_that_is_treated_as_new(project: Project) -> None:
    sampled = Measure("ROC-AUC", negatives="sampled")
    project.draw_negatives(2, min_rank=4, max_rank=12)
    result = project.score([sampled], resamples=20)
    (item,) = result.fairness
    assert {shift.model for shift in item.shifts} == {"m0", "m1"}
    lists = {name: project.read("neighbors", name) for name in ("m0", "m1")}
    inputs = Inputs(project)
    drawn = redrawn_negatives.draw_without_each(inputs, inputs.proposals, ["m0", "m1"])
    assert drawn is not None
    for name, other in (("m0", "m1"), ("m1", "m0")):
        ranks = drawn[name].merge(lists[other], on=["query_id", "candidate_id"], how="left")["rank"]
        assert len(ranks)
        assert ranks.between(4, 11).all()  # by the other model's list alone
    assert all(
        pair.verdict == "the labels cannot say"
        for pair in result.comparison[sampled].pairs
        if "new" in (pair.first, pair.second)
    )
    asked = project.analyse("reusability", measures=(sampled,)).result["models"].set_index("model")
    for shift in item.shifts:
        assert asked.at[shift.model, "unpooled"] == pytest.approx(shift.unpooled, abs=1e-12)
    assert _graded(project, sampled) == item.grade
    table = project.read("suspects")
    project.write(table, "suspects", Provenance("suspects.pool", {"suspects.k": 3}))  # no draw is recorded
    (item,) = project.score([sampled], resamples=20).fairness
    assert item.grade == _graded(project, sampled) == "not known"
    asked = project.analyse("reusability", measures=(sampled,)).result["models"]
    assert asked["unpooled"].isna().all()


def _graded(project: Project, measure: Measure) -> str:
    """The measure's fairness in the report."""
    made = build(report_inputs.collect(project, report_inputs.ReportOptions(pictures=False, resamples=20)), {})
    tables = [block for part in made.sections for block in part.blocks if isinstance(block, Table)]
    (shifts,) = (table for table in tables if table.key == "shifts")
    (grades,) = (table for table in tables if table.key == "grades")
    (row,) = (row for row in grades.rows if row["measure"].endswith("sampled"))
    assert (str(measure) in {row["measure"] for row in shifts.rows}) is (row["grade"] != "not known")
    return str(row["grade"])
