"""How often the intervals of p, gain, found and pool recall contain the truth: `python -m tests.speed.known_truth`.

The long form of tests/project/test_known_truth.py: 100 drawn catalogues for each world, each walked by the verbs.
`--catalogues N` and `--world NAME` (several times) make it shorter. Every tenth catalogue is also asked through the
page and the command line, which must say the same number.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd

from eds.intervals import wilson_interval
from tests.project.shops import Design
from tests.project.truth_walk import SHARES, World, said_by_command, said_by_page, said_by_status, walk

SMALL = Design(products=170, queries=60)
WORLDS = (
    World("1 view, p 1 %", replace(SMALL, views=(1, 1), prevalence=0.01)),
    World("1 to 4 views, p 3 %", replace(SMALL, prevalence=0.03)),
    World("3 views, p 8 %", replace(SMALL, views=(3, 3), prevalence=0.08), draws=400),
    World("1 to 4 views, pairs of images", replace(SMALL, prevalence=0.03), one_per_product=False, draws=900),
    World("half judged, random order", replace(SMALL, prevalence=0.03), judged=0.5),
    World("weighted draws", replace(SMALL, prevalence=0.03), draws=300, weighted=300),
    World("half judged, weighted draws", replace(SMALL, prevalence=0.03), draws=300, weighted=300, judged=0.5),
    World("half judged, fusion", replace(SMALL, prevalence=0.03), judged=0.5, order="fusion"),
)


def study(world: World, catalogues: int, first: int = 0) -> pd.DataFrame:
    """Estimate, limits and truth of every share of every catalogue."""
    rows = []
    for seed in range(first, first + catalogues):
        with tempfile.TemporaryDirectory() as folder:
            made = walk(world, seed, Path(folder))
            truth, said = made.truth(), said_by_status(made.project)
            if seed % 10 == 0:
                page, document = said_by_page(made.project), said_by_command(made.project)
                assert {name: page[name].to_dict() for name in SHARES} == {n: said[n].to_dict() for n in SHARES}
                assert document["universe"]["size"] == truth["universe"]
                assert document["p"] == said["p"].to_dict()
                assert document["recall"]["recall"] == said["recall"].to_dict()["value"]
            rows += [
                {"world": world.name, "share": name, "seed": seed, "truth": truth[name], **asdict(said[name])}
                for name in SHARES
            ]
    return pd.DataFrame(rows)


def coverage(rows: pd.DataFrame) -> pd.DataFrame:
    """By world and share: how often the interval contains the truth, and means of truth and estimate."""
    inside = (rows["low"] - 1e-12 <= rows["truth"]) & (rows["truth"] <= rows["high"] + 1e-12)
    values = rows.assign(inside=inside, width=rows["high"] - rows["low"])
    result = values.groupby(["world", "share"], sort=False).agg(
        catalogues=("inside", "size"),
        covered=("inside", "mean"),
        truth=("truth", "mean"),
        estimate=("value", "mean"),
        width=("width", "median"),
        unknown=("value", lambda values: values.isna().mean()),
    )
    low, high = wilson_interval((result["covered"] * result["catalogues"]).round(), result["catalogues"])
    return result.assign(covered_low=low, covered_high=high)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--world", action="append")
    given = parser.parse_args(arguments)
    for world in WORLDS:
        if given.world is None or world.name in given.world:
            table = coverage(study(world, given.catalogues, given.first))
            print(table.round(4).to_string(), flush=True)


if __name__ == "__main__":
    main()
