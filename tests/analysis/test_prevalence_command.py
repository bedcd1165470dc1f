"""`eds analysis prevalence`: every count against loops over the pairs, and what is said where draws are missing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds.analysis.recall import pool_recall
from eds.cli.analysis import analysis as group
from eds.errors import ProjectError
from eds.project import Project
from eds.suspects import sources_frame
from eds.tables import Provenance

Call = Callable[..., Any]
PAIR = ["query_id", "candidate_id"]
Unit = tuple[str, str]


def units(project: Project, frame: pd.DataFrame) -> list[Unit]:
    """The query and the product of each pair."""
    product = project.read("images").set_index("image_id")["product_id"]
    return list(zip(frame["query_id"], product[frame["candidate_id"]], strict=True))


def test_prevalence_counts_the_pool_the_draws_and_the_outside(project: Project, call: Call) -> None:
    told = call("prevalence")
    suspects, truth, images = (project.read(table) for table in ("suspects", "truth", "images"))
    value: dict[Unit, int] = {}
    for unit, label in zip(units(project, truth), truth["value"], strict=True):
        value[unit] = max(value.get(unit, 0), label)
    pool = set(units(project, suspects[suspects["origin"] == "pool"]))
    drawn = units(project, suspects[suspects["origin"] == "random"])
    queries, offered = images[images["role"] != "candidate"], images[images["role"] != "query"]
    everything = sum(len(set(offered["product_id"]) - {own}) for own in queries["product_id"])
    assert told["universe"]["unit"] == "product"
    assert told["pairs"] == told["universe"]["size"] == everything
    assert (told["pool"]["pairs"], told["pool"]["positive"]) == (len(pool), sum(value[unit] for unit in pool))
    assert told["known_positives"] == sum(value.values())
    assert told["p_lower_bound"] == pytest.approx(sum(value.values()) / everything)
    assert (told["random"]["n"], told["random"]["a"]) == (80, sum(value[unit] for unit in drawn))
    outside = [unit for unit in drawn if unit not in pool]
    (stratum,) = told["strata"]
    assert (stratum["N"], stratum["n"], stratum["a"]) == (
        everything - len(pool),
        len(outside),
        sum(value[unit] for unit in outside),
    )
    missed = stratum["N"] * stratum["a"] / stratum["n"]
    recall = told["pool"]["positive"] / (told["pool"]["positive"] + missed)
    assert told["recall"]["recall"] == pytest.approx(recall)
    assert told["recall"]["lower"] <= recall <= told["recall"]["upper"]
    proposals = sources_frame(suspects)
    for row in told["models"]:
        mine = set(units(project, proposals[proposals["model"] == row["model"]]))
        rest = set(units(project, proposals[proposals["model"] != row["model"]]))
        assert (row["pairs"], row["positive"]) == (len(mine), sum(value[unit] for unit in mine))
        assert row["positives_only_here"] == sum(value[unit] for unit in mine - rest)
    assert told["unseen"]["observed"] == told["pool"]["positive"]
    assert [row["labelled"] for row in told["ranks"]] == [28, 28, 28]


def test_without_labels_or_draws_the_commands_say_what_to_do(project: Project, call: Call) -> None:
    suspects = project.read("suspects")
    project.write(suspects[suspects["origin"] == "pool"], "suspects", Provenance("suspects.pool"))
    told = call("prevalence")
    assert told["random"] is None
    assert told["recall"] is None
    shown = CliRunner().invoke(group, ["prevalence", "-p", str(project.root)], catch_exceptions=False).stdout
    assert "draw some (eds suspects random" in shown
    truth = project.read("truth")
    pool = suspects.loc[suspects["origin"] == "pool", ["query_id", "candidate_id"]]
    project.write(suspects, "suspects", Provenance("suspects.pool"))
    project.write(truth.merge(pool.drop_duplicates()), "truth", Provenance("truth.decide"))
    told = call("prevalence")  # draws that are labelled only because they are in the pool tell nothing of p
    assert told["random"]["p_map"] is None
    assert not told["random"]["enough"]
    assert told["strata"][0]["n"] == 0
    assert told["recall"]["recall"] is None
    shown = CliRunner().invoke(group, ["prevalence", "-p", str(project.root)], catch_exceptions=False).stdout
    assert "random pairs have no label" in shown
    project.path("truth").unlink()
    for words in (["prevalence"], ["leave-one-out"], ["bias"], ["reusability"]):
        with pytest.raises(ProjectError, match="no decided labels"):
            call(*words)


def shown(project: Project, *words: str) -> str:
    return CliRunner().invoke(group, ["prevalence", *words, "-p", str(project.root)], catch_exceptions=False).stdout


def test_draws_by_stratum_tell_p_and_the_recall(project: Project, call: Call) -> None:
    told = call("prevalence")
    suspects, truth = project.read("suspects"), project.read("truth")
    every = pd.Series(units(project, suspects))
    pool = set(every[suspects["origin"] == "pool"])
    drawn = suspects["origin"] == "random"
    outside = drawn & ~every.isin(pool)
    rows = np.flatnonzero(outside)
    near, rest = rows[:20], rows[20:]
    sizes = {"near": 100, "rest": told["pairs"] - len(pool) - 100}
    for name, some in (("near", near), ("rest", rest)):
        suspects.loc[some, "stratum"] = f"{name}@product"
        suspects.loc[some, "probability"] = len(some) / sizes[name]
    project.write(suspects[~drawn | outside], "suspects", Provenance("suspects.random"))
    value: dict[Unit, int] = {}
    for unit, label in zip(units(project, truth), truth["value"], strict=True):
        value[unit] = max(value.get(unit, 0), label)
    strata = [
        {"N": sizes[name], "n": len(some), "a": sum(value[unit] for unit in every[some])}
        for name, some in (("near", near), ("rest", rest))
    ]
    found = call("prevalence")
    assert found["random"] is None
    assert [{key: one[key] for key in ("N", "n", "a")} for one in found["strata"]] == strata
    p = (found["pool"]["positive"] + sum(one["N"] * one["a"] / one["n"] for one in strata)) / found["pairs"]
    assert found["p"]["value"] == pytest.approx(p)
    told_text = shown(project)
    assert f"By the pool and the random pairs outside it p = {100 * p:.1f} %" in told_text
    assert "draw some" not in told_text
    for limits in ("simultaneous", "squared"):
        expected = pool_recall(found["pool"]["positive"], strata, 0.95, limits)
        assert call("prevalence", "--limits", limits)["recall"] == pytest.approx(expected)
    project.write(suspects[~drawn | suspects["stratum"].eq("near@product")], "suspects", Provenance("suspects.random"))
    assert "p cannot be estimated" in shown(project)


def test_without_a_pool_there_is_no_recall(project: Project, call: Call) -> None:
    suspects = project.read("suspects")
    project.write(suspects[suspects["origin"] == "random"], "suspects", Provenance("suspects.random"))
    assert call("prevalence")["recall"] is None
    assert "The pool holds" not in shown(project)


def test_what_is_not_stored_is_not_said_to_be(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def say(*words: str) -> str:
        return CliRunner().invoke(group, ["prevalence", *words, "--project", str(project.root)]).stderr

    assert "Stored in" not in say("--dry-run")
    monkeypatch.setattr(Project, "read_only", True)  # root may write to any folder
    assert "Stored in" not in say()
    assert not (project.root / "analysis").exists()
    monkeypatch.undo()
    assert "Stored in" in say()
