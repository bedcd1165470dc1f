"""Write a drawn catalogue to a folder: the images, and the images table with the truth about them."""

import hashlib
import io
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from eds.errors import InputError
from eds.io.files import replacing
from eds.synthetic.attributes import TRUE_COLUMNS
from eds.synthetic.garments.scene import Product, studio_view
from eds.synthetic.garments.wild import jpeg_quality, wild_view
from eds.synthetic.products import COLLECTION_SIZE, draw_collections, draw_products, stream

DRAWING = 2  # increase it when the same parameters give other images: folders of an earlier drawing are errors
PARAMETERS = "drawing.json"
COLUMNS = (
    "image_id",
    "path",
    "product_id",
    "category",
    "collection",
    "role",
    "phase",
    "width",
    "height",
    "sha256",
    "box_left",
    "box_top",
    "box_right",
    "box_bottom",
    *TRUE_COLUMNS,
)
_WILD_PRODUCTS = 5  # the job of the random stream that picks the products of the wild images
_QUERIES = 8  # the job of the random stream that picks the queries of the catalogue
_SIZES = (32, 2048)


class _Picture(NamedTuple):
    """An image to write."""

    path: str  # relative to the folder
    product: Product
    wild: bool
    number: int  # of the view, or of the product's snapshot
    collection: int
    role: str


@dataclass(frozen=True)
class Plan:
    """What a catalogue consists of; the same plan gives the same pictures.

    `views` images of each product go to `catalogue/`, `wild` snapshots of products picked by seed to `wild/`. Snapshots
    are queries, and so is the front view of `queries` products picked by seed (None: of every product).
    """

    products: int
    views: int = 3
    wild: int = 0
    seed: int = 0
    size: int = 256
    queries: int | None = None
    collection_size: int = COLLECTION_SIZE  # mean number of products that vary one design

    def __post_init__(self) -> None:
        low, high = _SIZES
        rules = (
            (self.products < 1, f"products is {self.products}; at least 1"),
            (self.views < 1, f"views is {self.views}; at least 1"),
            (self.wild < 0, f"wild is {self.wild}; at least 0"),
            (self.seed < 0, f"seed is {self.seed}; at least 0"),
            (not low <= self.size <= high, f"size is {self.size}; from {low} to {high} pixels"),
            (self.queries is not None and self.queries < 0, f"queries is {self.queries}; at least 0"),
            (self.collection_size < 1, f"collection_size is {self.collection_size}; at least 1"),
        )
        faults = [text for broken, text in rules if broken]
        if faults:
            raise InputError(
                "parameters out of range",
                where="drawn catalogue",
                hint="Use values within these ranges.",
                faults=faults,
            )


def draw_catalogue(
    folder: str | Path,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **plan: Any,
) -> pd.DataFrame:
    """Draw a catalogue into `folder` and return its images table, sorted by image_id.

    `plan`: products, views, wild, queries, collection_size, seed, size; see `Plan`. Complete files of the same plan are
    kept. The number of `workers` (default: one per processor) changes the speed only.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}", where="drawn catalogue", hint="Use at least 1.")
    folder, chosen = Path(folder), Plan(**plan)
    _claim(folder, {"drawing": DRAWING, **asdict(chosen)})
    pictures = _pictures(chosen)
    digests = {picture.path: digest for picture in pictures if (digest := _digest_of_whole(folder / picture.path))}
    done = len(digests)
    if progress is not None and done:
        progress(done, len(pictures))
    batches = _batches([picture for picture in pictures if picture.path not in digests])
    for batch in _drawn(folder, batches, chosen.size, min(workers or os.cpu_count() or 1, len(batches))):
        digests.update(batch)
        done += len(batch)
        if progress is not None:
            progress(done, len(pictures))
    return _table(pictures, digests, chosen.size)


def _claim(folder: Path, parameters: dict[str, int | None]) -> None:
    """Record the parameters in the folder; raise InputError if it holds another catalogue."""
    note = folder / PARAMETERS
    if note.exists():
        try:
            found = json.loads(note.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError("is not JSON", where=str(note), hint="Delete the folder or name another one.") from error
        if found != parameters:
            stored = found if isinstance(found, dict) else {}
            faults = [
                f"{name}: stored {stored.get(name)}, requested {value}"
                for name, value in parameters.items()
                if stored.get(name) != value
            ]
            raise InputError(
                "the folder holds a catalogue with other parameters",
                where=str(folder),
                hint="Name another folder, or use the same parameters.",
                faults=faults,
            )
        return
    for name in ("catalogue", "wild"):
        if (folder / name).exists():
            raise InputError(
                f"holds a folder {name!r} but no {PARAMETERS}", where=str(folder), hint="Name an empty or new folder."
            )
    folder.mkdir(parents=True, exist_ok=True)
    _write(note, (json.dumps(parameters, indent=1) + "\n").encode())


def _pictures(plan: Plan) -> list[_Picture]:
    """List every image; the snapshots of a product are numbered in the order in which they were drawn."""
    drawn = draw_products(plan.products, plan.seed, plan.collection_size)
    collections = draw_collections(plan.products, plan.seed, plan.collection_size)
    shown = [Product(attributes, key, plan.seed) for key, attributes in enumerate(drawn)]
    names = [f"{product.attributes.category}/p{product.key:06d}" for product in shown]
    order = stream(plan.seed, _QUERIES).permutation(plan.products)
    asks = set(order[: plan.queries].tolist())
    pictures = [
        _Picture(f"catalogue/{name}/{view}.jpg", product, False, view, collection, role)
        for name, product, collection in zip(names, shown, collections, strict=True)
        for view in range(plan.views)
        for role in ("both" if view == 0 and product.key in asks else "candidate",)
    ]
    taken = [0] * plan.products
    for pick in stream(plan.seed, _WILD_PRODUCTS).integers(plan.products, size=plan.wild).tolist():
        path = f"wild/{names[pick]}/{taken[pick]}.jpg"
        pictures.append(_Picture(path, shown[pick], True, taken[pick], collections[pick], "query"))
        taken[pick] += 1
    return pictures


def _digest_of_whole(path: Path) -> str | None:
    """Return the digest of a complete JPEG, else None."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return hashlib.sha256(data).hexdigest() if data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9" else None


def _batches(pictures: list[_Picture], length: int = 24) -> list[list[_Picture]]:
    return [pictures[start : start + length] for start in range(0, len(pictures), length)]


def _drawn(folder: Path, batches: Sequence[Sequence[_Picture]], size: int, workers: int) -> Iterator[dict[str, str]]:
    if workers <= 1:
        for batch in batches:
            yield _draw_batch(folder, batch, size)
        return
    # Spawned processes inherit neither threads nor locks of a caller that runs torch or a web server.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_draw_batch, folder, batch, size) for batch in batches]):
            yield future.result()


def _draw_batch(folder: Path, batch: Sequence[_Picture], size: int) -> dict[str, str]:
    return {picture.path: _draw_picture(folder, picture, size) for picture in batch}


def _draw_picture(folder: Path, picture: _Picture, size: int) -> str:
    if picture.wild:
        image, quality = wild_view(picture.product, picture.number, size), jpeg_quality(picture.product, picture.number)
    else:
        image, quality = studio_view(picture.product, picture.number, size), 90
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    _write(folder / picture.path, buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def _write(path: Path, data: bytes) -> None:
    with replacing(path, durable=False) as temporary:  # a damaged picture is drawn again
        temporary.write_bytes(data)


def _table(pictures: Sequence[_Picture], digests: dict[str, str], size: int) -> pd.DataFrame:
    truth = {picture.product.key: picture.product.attributes.columns() for picture in pictures}
    rows = [
        {
            "image_id": picture.path.removesuffix(".jpg"),
            "path": picture.path,
            "product_id": f"p{picture.product.key:06d}",
            "category": picture.product.attributes.category,
            "collection": f"c{picture.collection:05d}",
            "role": picture.role,
            "phase": "wild" if picture.wild else "catalogue",
            "width": size,
            "height": size,
            "sha256": digests[picture.path],
            **truth[picture.product.key],
        }
        for picture in pictures
    ]
    frame = pd.DataFrame(rows)
    for side in ("left", "top", "right", "bottom"):
        frame[f"box_{side}"] = pd.array([None] * len(frame), dtype="Int32")
    return frame[list(COLUMNS)].sort_values("image_id", ignore_index=True)
