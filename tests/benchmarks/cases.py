"""A small benchmark with all that is awkward: names, ties, unsure votes, corrections, gold, origins and roles."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from eds.benchmarks.benchmark import Benchmark
from eds.benchmarks.card import Card
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES, NEIGHBORS, SUSPECTS, TRUTH

PAIR = ["query_id", "candidate_id"]
NAMES = [
    "a b",
    "ä ö/ü",
    "100%",
    "%41",
    "#1",
    'say "hi"',
    "comma,semi;tab",
    "<script>",
    "日本/語",
    "p'lain",
    "x" * 60,
    "\\back",
]


def catalogue(paths: bool = False) -> pd.DataFrame:
    """Twelve images; where `paths`, each is named by its path."""
    rows = []
    for number, name in enumerate(NAMES):
        path = f"img/{number:02d} größe.png"
        rows.append(
            {
                "image_id": path if paths else name,
                "path": path,
                "product_id": f"P {number // 2}",
                "sha256": None,
                "category": "<script>alert(1)</script>" if number % 2 else None,
                "phase": "gallery" if number > 2 else "wild",
                "role": "query" if number < 3 else "both" if number < 6 else "candidate",
                "width": 8,
                "height": None,
                "box_left": 1 if number == 4 else None,
                "box_top": 2 if number == 4 else None,
                "box_right": 7 if number == 4 else None,
                "box_bottom": 8 if number == 4 else None,
                "colour": ["red", "grün"][number % 2],
                "price": number / 3,
            }
        )
    return to_frame(to_arrow(pd.DataFrame(rows), IMAGES))


def benchmark(root: Path | None = None, *, paths: bool = False, seed: int = 0) -> Benchmark:
    """Truth, suspects, votes and two models' lists on the catalogue; pictures below `root` if it is given."""
    rng = np.random.default_rng(seed)
    images = catalogue(paths)
    if root is not None:
        (root / "img").mkdir(parents=True)
        for number, path in enumerate(images["path"]):
            Image.new("RGB", (8, 8), (number * 20, 0, 0)).save(root / path)
    queries = images.loc[images["role"] != "candidate", "image_id"].tolist()
    offered = images.loc[images["role"] != "query", "image_id"].tolist()
    pairs = [(query, candidate) for query in queries for candidate in offered if query != candidate]
    votes, truth = _judged(pairs[::2], rng)
    suspects = [
        {
            "query_id": q,
            "candidate_id": c,
            "origin": "pool" if n % 5 else "random",
            "batch": n // 7,
            "position": n,
            "sources": "one:0;two:3" if n % 3 else None,
            "stratum": "pool@0" if n % 2 else None,
            "probability": 1.0 if n % 5 else 1 / 3,
        }
        for n, (q, c) in enumerate(pairs)
    ]
    runs = {name: _run(name, queries, offered, rng) for name in ("one", "two")}
    card = Card("Größe <b>", "cc-by-4.0", "1.0.0", "2026-01-01", statements={"Motivation": ["To *test* <script>."]})
    return Benchmark(
        images,
        to_frame(to_arrow(truth, TRUTH)),
        to_frame(to_arrow(pd.DataFrame(suspects), SUSPECTS)),
        votes,
        runs,
        root,
        card,
    )


def _judged(pairs: list[tuple[str, str]], rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows: list[dict[str, Any]] = []
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for number, (query, candidate) in enumerate(pairs):
        for place, expert in enumerate(("Zoë", "expert two", "<b>three</b>")):
            value = [1, 0, None][int(rng.choice(3, p=[0.4, 0.5, 0.1]))]
            rows.append(
                {
                    "vote_id": f"v{number}-{place}",
                    "query_id": query,
                    "candidate_id": candidate,
                    "expert_id": expert,
                    "value": value,
                    "seconds": float(rng.random() * 9) if place else None,
                    "kind": "normal",
                    "created_at": start + timedelta(seconds=len(rows), microseconds=7),
                    "supersedes": None,
                    "session_id": "s 1" if place else None,
                    "guideline": 'v1, "ü"\nsecond line',
                    "campaign": "main",
                    "mode": "pair",
                    "polarity": None,
                }
            )
    last = rows[-1]
    rows.append(
        {
            **last,
            "vote_id": "correction",
            "supersedes": last["vote_id"],
            "value": 1 if last["value"] == 0 else 0,
            "created_at": last["created_at"] + timedelta(hours=1),
        }
    )
    rows.append({**rows[0], "vote_id": "gold", "kind": "gold", "value": 1})
    votes = pd.DataFrame(rows)
    votes = votes.assign(
        value=votes["value"].astype("Int64"),
        seconds=votes["seconds"].astype("float64"),
        created_at=votes["created_at"].astype("datetime64[us, UTC]"),
    )
    force = votes[(votes["kind"] == "normal") & ~votes["vote_id"].isin(votes["supersedes"].dropna())]
    grouped = force.groupby(PAIR)["value"]
    counts = grouped.agg(
        votes_for=lambda v: int((v == 1).sum()),
        votes_against=lambda v: int((v == 0).sum()),
        unsure=lambda v: int(v.isna().sum()),
    ).reset_index()
    counts = counts.astype({"votes_for": "int64", "votes_against": "int64", "unsure": "int64"})
    counts["tie"] = counts["votes_for"] == counts["votes_against"]
    counts["value"] = (counts["votes_for"] > counts["votes_against"]).astype("int64")
    return votes, counts.assign(rule="majority")[TRUTH.names]


def _run(model: str, queries: list[str], offered: list[str], rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for query in queries:
        scores = {one: float(rng.choice([0.5, 0.5 + 1e-12, 0.25, rng.random()])) for one in offered if one != query}
        ranked = sorted(scores, key=lambda one: (-scores[one], one))
        rows += [
            {"model": model, "query_id": query, "candidate_id": one, "rank": rank, "score": scores[one]}
            for rank, one in enumerate(ranked)
        ]
    return to_frame(to_arrow(pd.DataFrame(rows), NEIGHBORS))


def same(left: pd.DataFrame | None, right: pd.DataFrame | None, key: list[str], names: list[str] | None = None) -> None:
    """Assert that two frames hold the same rows, whatever their order, kinds of missing and of columns aside."""
    assert left is not None
    assert right is not None
    used = names or list(left.columns)
    told = [one[used].sort_values(key).reset_index(drop=True).astype(object) for one in (left, right)]
    first, second = (one.where(one.notna(), None).to_dict(orient="list") for one in told)
    assert first == second
