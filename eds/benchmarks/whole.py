"""A benchmark that was read, held together: its rows against its catalogue, that against the project's files."""

from pathlib import Path
from typing import Any

import pandas as pd

from eds.benchmarks import rows
from eds.benchmarks.benchmark import PAIR, Benchmark, images_of
from eds.benchmarks.json_files import Faults
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES


def of_the_project(benchmark: Benchmark, own: pd.DataFrame | None, root: Path) -> tuple[Benchmark, bool]:
    """The benchmark with a catalogue: its own; else the project's (then true), to which it must fit; else of its ids.

    Formats without a catalogue are mostly judgements on one's own.
    """
    benchmark = benchmark.with_(image_root=root)
    if benchmark.images is not None and "catalogue" not in benchmark.places:
        return benchmark, False
    if own is not None:
        notes = tuple(note for note in benchmark.notes if "tell no catalogue" not in note)
        return benchmark.with_(images=own, notes=notes), True
    if benchmark.images is None:
        parts = [one for one in (benchmark.truth, benchmark.suspects, benchmark.votes) if one is not None]
        known = [one[PAIR].dropna() for one in parts if set(PAIR) <= set(one.columns)]
        every = pd.concat(known) if known else pd.DataFrame({name: [] for name in PAIR}, dtype=object)
        every = every[every.map(lambda one: isinstance(one, str)).all(axis=1).to_numpy(bool)]
        made = to_frame(to_arrow(images_of(every["query_id"], every["candidate_id"]), IMAGES))
        note = "the files tell no catalogue: an id is its own path and product"
        benchmark = benchmark.with_(images=made, notes=(*benchmark.notes, note))
    return benchmark, False


def set_apart(benchmark: Benchmark) -> Benchmark:
    """The same, where a product of images that only ask is another one than a candidate's of the same id."""
    images: Any = benchmark.images
    asks = images["role"] == "query"
    named = images["phase"].fillna("query").astype(str) + ":" + images["product_id"]
    return benchmark.with_(images=images.assign(product_id=images["product_id"].where(~asks, named)))


def checked(benchmark: Benchmark) -> tuple[Benchmark, Faults]:
    """Every pair must be of images that there are; products shared between domains and missing files are told."""
    faults, images, notes = Faults(), benchmark.images, list(benchmark.notes)
    if images is None:
        return benchmark, faults
    parts = {"truth": benchmark.truth, "suspects": benchmark.suspects}
    parts |= {f"run of {model}": run for model, run in benchmark.runs.items()}
    for name, frame in parts.items():
        place = benchmark.places.get(name)
        if frame is not None and place is not None:
            rows.known(frame, PAIR, images["image_id"], place, faults)
    asked = _outside(benchmark.truth, images)
    if asked:
        notes.append(asked)
    if shared := _shared_products(images):
        notes.append(shared)
    if benchmark.image_root is not None and not benchmark.pictures:
        absent = [
            path for path in images["path"] if rows.path_faults(path) or not (benchmark.image_root / path).is_file()
        ]
        if absent:
            notes.append(
                f"{len(absent):,} of {len(images):,} pictures are not below {benchmark.image_root}, as {absent[0]!r}: "
                "put them there to look at pairs or compute embeddings; measures need none"
            )
    if "catalogue" in benchmark.places:
        rows.paths(images, benchmark.places["catalogue"], faults)
    return benchmark.with_(notes=tuple(notes)), faults


def _outside(truth: pd.DataFrame | None, images: pd.DataFrame) -> str:
    """Labelled pairs that no list can hold."""
    if truth is None:
        return ""
    asked = truth["query_id"].isin(images.loc[images["role"] != "candidate", "image_id"])
    offered = truth["candidate_id"].isin(images.loc[images["role"] != "query", "image_id"])
    count = int((~(asked & offered)).sum())
    return f"{count:,} labelled pairs are not of a query and a candidate: every measure counts them" if count else ""


def _shared_products(images: pd.DataFrame) -> str:
    """The trap of two collections that number their products alike: strangers look like one product."""
    apart = images["role"] == "query"
    wild, shop = images[apart], images[~apart]
    both = wild[wild["product_id"].isin(set(shop["product_id"]))]
    if not len(both) or set(both["phase"].dropna()) & set(shop["phase"].dropna()):
        return ""  # within one collection the views of a product share its id, as they should
    first = both.iloc[0]
    other = shop.loc[shop["product_id"] == first["product_id"], "image_id"].iloc[0]
    return (
        f"{both['product_id'].nunique():,} product ids belong to queries and to candidates of another domain, as "
        f"{first['product_id']!r} of {first['image_id']!r} and {other!r}: lists leave out a query's own product; if "
        "these are different products, import with --apart"
    )
