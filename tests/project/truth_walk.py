"""One walk by the verbs through a catalogue whose truth is known, and what every answer says of it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import CliRunner

from eds.analysis.totals import Estimate
from eds.cli import cli
from eds.project import Project
from eds.universe import PairRules
from tests.project.shops import PAIR, Design, Shop, draw_shop, judge, make_project

SHARES = ("p", "gain", "found", "recall")


@dataclass(frozen=True)
class World:
    """A kind of catalogue, and how it is judged."""

    name: str
    design: Design = field(default_factory=Design)
    one_per_product: bool = True
    draws: int = 700
    k: int = 5
    order: str = "random"
    judged: float = 1.0  # share of the pool, from its first position on
    weighted: int = 0  # draws that follow the labels of all that

    @property
    def rules(self) -> PairRules:
        return PairRules(one_per_product=self.one_per_product)


@dataclass(frozen=True, eq=False)
class Walk:
    """A judged project, and its shop."""

    shop: Shop
    project: Project
    world: World

    def truth(self) -> dict[str, float]:
        """The exact shares, counted in the catalogue."""
        units = self.shop.units(self.world.rules)
        suspects, truth = self.project.read("suspects"), self.project.read("truth")
        pool = self._units(suspects[suspects["origin"] == "pool"]).merge(units)
        known = self._units(truth).merge(units)
        p, positives = float(units["value"].mean()), int(units["value"].sum())
        return {
            "universe": float(len(units)),
            "p": p,
            "gain": float(pool["value"].mean()) / p,
            "found": int(known["value"].sum()) / positives,
            "recall": int(pool["value"].sum()) / positives,
        }

    def _units(self, pairs: pd.DataFrame) -> pd.DataFrame:
        product = self.shop.images.set_index("image_id")["product_id"]
        unit = pairs["candidate_id"].map(product) if self.world.one_per_product else pairs["candidate_id"]
        return pairs.assign(unit=unit)[["query_id", "unit"]].drop_duplicates()


def walk(world: World, seed: int, folder: Path) -> Walk:
    """Draw the catalogue, mine, pool, draw random pairs, judge, decide."""
    shop = draw_shop(world.design, seed)
    settings: dict[str, object] = {
        "project.seed": seed,
        "neighbors.one_per_product": world.one_per_product,
        "suspects.batch": 60,
    }
    project = make_project(shop, folder, settings)
    project.mine(k=world.k + (15 if world.weighted else 1))
    project.pool(k=world.k, order=world.order)
    project.draw_random(world.draws)
    suspects = project.read("suspects")
    pool = suspects[suspects["origin"] == "pool"].sort_values("position")
    seen = pool.head(round(world.judged * len(pool)))
    judge(shop, project, pd.concat([seen, suspects[suspects["origin"] == "random"]])[PAIR], folder / "votes.csv")
    if world.weighted:
        project.draw(world.weighted, design="weighted")
        suspects = project.read("suspects")
        judge(shop, project, pd.concat([seen, suspects[suspects["origin"] == "random"]])[PAIR], folder / "more.csv")
    return Walk(shop, project, world)


def said_by_status(project: Project) -> dict[str, Estimate]:
    """The shares of `status`."""
    shares = project.status().shares
    assert shares is not None
    return {name: getattr(shares, name) for name in SHARES}


def said_by_page(project: Project) -> dict[str, Estimate]:
    """The shares of the page on a campaign's yield."""
    facts = project.campaigns.pool_yield("judging").prevalence
    assert facts is not None
    return {name: getattr(facts, name) for name in SHARES}


def said_by_command(project: Project) -> dict[str, Any]:
    """The document of `eds analysis prevalence --json`."""
    done = CliRunner().invoke(cli, ["analysis", "prevalence", "-p", str(project.root), "--json", "-q"])
    if done.exception:
        raise done.exception
    document: dict[str, Any] = json.loads(done.stdout)["result"]
    return document


def said_by_report(project: Project) -> dict[str, dict[str, float]]:
    """What report.json says in its section on the pool: the numbers of each sentence and row that has any share."""
    project.report(resamples=20, pictures=False)
    document = json.loads((project.root / "report.json").read_text())
    blocks = [block for part in document["sections"] if part["key"] == "pool" for block in part["blocks"]]
    numbers = [block["numbers"] for block in blocks if block["kind"] == "sentence"]
    (table,) = (block for block in blocks if block["kind"] == "table" and block["key"] == "prevalence")
    likely = next(row for row in table["rows"] if row["estimate"].startswith("most likely"))
    held = [part for part in numbers if {"value", "low", "high"} <= set(part)]
    gain = next(part for part in numbers if "gain" in part)
    return {
        "p": {"value": likely["value"]},
        "recall": held[-2],
        "found": held[-1],
        "gain": {"value": gain["gain"], "low": gain["low"], "high": gain["high"]},
    }
