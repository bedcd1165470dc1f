"""The catalogue's pictures for the judging pages: under opaque names, in three sizes, kept on disk.

A name (picture_tokens.py) is valid for one viewer and one content of an image, cannot be forged and reveals nothing, so
browsers may keep the picture for ever. Pictures are made once, in child processes and in a fair order
(picture_queue.py), and kept in the project (.eds/pictures) by content, box and size.
"""

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import anyio
import numpy as np
import pandas as pd
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import site
from annotator_ui.lanes import in_lane
from annotator_ui.picture_queue import PREPARATION, BusyError, PictureQueue
from annotator_ui.picture_tokens import PictureTokens, mark
from eds.errors import EdsError, ImageError, InputError
from eds.imaging import MAX_PIXELS, SIDES, Box, Decoder, inside
from eds.io.files import abandoned, replacing
from eds.project import Project
from eds.tables import BOX

SIZES = {"thumb": SIDES["annotator"], "large": 1200, "full": 2400}  # longest side
QUALITY = {"thumb": 82, "large": 88, "full": 92}
CACHE_VERSION = "1"  # raise it when the same image is made differently; sizes and qualities are part of the key
FOREVER = "private, max-age=31536000, immutable"
MOST_OTHERS = 4  # further pictures of a product that the page offers
Size = Literal["thumb", "large", "full"]


@dataclass(frozen=True)
class Source:
    """The source of an image: its file, the part of it that counts, and a key of its content."""

    path: str
    box: Box | None
    content: str
    pixels: int  # of its file, as the table says; MAX_PIXELS if it does not


@dataclass(frozen=True)
class Shown:
    """What an expert may know of a picture's product."""

    lines: list[str]  # the texts of the project's columns, without those that are missing
    others: list[str]  # image ids of further pictures of the product
    category: str


@dataclass(frozen=True)
class Catalogue:
    """The columns of the table images that matter here, ready for single lookups."""

    places: pd.Index
    paths: "np.ndarray[Any, Any]"  # object
    digests: "np.ndarray[Any, Any]"  # object, "" if missing
    boxes: "np.ndarray[Any, Any]"  # float64, images x 4, NaN if missing
    pixels: "np.ndarray[Any, Any]"  # int64
    products: "np.ndarray[Any, Any]"  # a number for each product
    by_product: "np.ndarray[Any, Any]"  # rows ordered by product; those of product n begin at starts[n]
    starts: "np.ndarray[Any, Any]"
    shown: "list[np.ndarray[Any, Any]]"  # texts of the columns that experts may read, "" if missing
    categories: "np.ndarray[Any, Any]"  # object, "" if missing

    @classmethod
    def of(cls, table: pd.DataFrame, shown: Sequence[str] = ()) -> "Catalogue":
        """The table's columns as arrays."""
        products = pd.factorize(table["product_id"].astype(object))[0]
        by_product = np.argsort(products, kind="stable")
        return cls(
            pd.Index(table["image_id"].astype(object)),
            table["path"].to_numpy(dtype=object),
            table["sha256"].astype(object).where(table["sha256"].notna(), "").to_numpy(dtype=object),
            table[BOX].astype("Float64").to_numpy(dtype="float64", na_value=np.nan),
            (table["width"] * table["height"]).astype("Int64").fillna(MAX_PIXELS).to_numpy(dtype="int64"),
            products,
            by_product,
            np.searchsorted(products[by_product], np.arange(products.max(initial=-1) + 2)),
            [_texts(table[name]) for name in shown if name in table.columns],
            _texts(table["category"]),
        )


def _texts(column: "pd.Series[Any]") -> "np.ndarray[Any, Any]":
    return column.astype(object).where(column.notna(), "").map(str).to_numpy(dtype=object)


class Pictures:
    """All pictures of a project."""

    def __init__(self, project: Project, secret: bytes, base: str) -> None:
        self.project, self.base = project, base
        self.folder = project.root / ".eds" / "pictures"
        self._tokens = PictureTokens(secret)
        self._table: Catalogue | None = None
        self._stamp: tuple[int, int] | None = None
        self._reading = threading.Lock()
        self._making: dict[Path, anyio.Event] = {}
        self.queue = PictureQueue()

    def name(self, viewer_name: str, image_id: str) -> str:
        """Return the image's name, valid for this viewer only."""
        result = self.source(image_id)
        return self._tokens.seal(viewer_name, image_id, result.content if result else "")

    def url(self, viewer_name: str, image_id: str, size: Size) -> str:
        """Where this viewer finds the image."""
        return f"{self.base}/pictures/{size}/{self.name(viewer_name, image_id)}"

    def opened(self, viewer_name: str, name: str) -> Source | None:
        """Return the source behind a name; None if it is another viewer's, or the image has changed since."""
        requested = self._tokens.open(viewer_name, name)
        if requested is None:
            return None
        result = self.source(requested[0])
        return result if result is not None and mark(result.content) == requested[1] else None

    def source(self, image_id: str) -> Source | None:
        """Return the image's source, None if it is not in the catalogue."""
        catalogue = self._images()
        try:
            row = catalogue.places.get_loc(image_id)
        except KeyError:
            return None
        edges, path, digest = catalogue.boxes[row], str(catalogue.paths[row]), catalogue.digests[row]
        box = None if np.isnan(edges).any() else Box(*(int(edge) for edge in edges))
        return Source(path, box, f"{digest or f'path {path}'} {tuple(box) if box else ''}", int(catalogue.pixels[row]))

    def image_id(self, viewer_name: str, name: str) -> str | None:
        """Return the image behind a name; None if it is another viewer's."""
        requested = self._tokens.open(viewer_name, name)
        return requested[0] if requested else None

    def about(self, image_id: str) -> Shown:
        """What an expert may read of the image's product, and its other pictures."""
        catalogue = self._images()
        try:
            row = int(str(catalogue.places.get_loc(image_id)))  # unique: a number
        except KeyError:
            return Shown([], [], "")
        product = int(catalogue.products[row])
        same = catalogue.by_product[catalogue.starts[product] : catalogue.starts[product + 1]]
        others = [str(catalogue.places[other]) for other in same if other != row][:MOST_OTHERS]
        return Shown(
            [str(texts[row]) for texts in catalogue.shown if texts[row]], others, str(catalogue.categories[row])
        )

    async def picture(self, source: Source, size: Size, viewer_name: str = PREPARATION) -> bytes:
        """The picture as WebP: from disk, or decoded when it is this viewer's turn (BusyError: they wait for many)."""
        file = self._file(source, size)
        kept = await in_lane("pictures", _whole, file)
        if kept is not None:
            return kept
        try:
            return await self._made(source, size, file, viewer_name, source.pixels)
        except ImageError:
            if source.pixels >= MAX_PIXELS:
                raise
        return await self._made(source, size, file, viewer_name, MAX_PIXELS)  # the file holds more than the table says

    def is_made(self, source: Source, size: Size) -> bool:
        """Whether the picture lies on disk already."""
        return self._file(source, size).exists()

    def refresh(self) -> None:
        """Read the catalogue again if it has changed."""
        file = self.project.path("images")
        stamp = (file.stat().st_mtime_ns, file.stat().st_size) if file.exists() else None
        if self._table is None or stamp != self._stamp:
            with self._reading:
                self._table, self._stamp = self._read(), stamp

    def version(self) -> object:
        """What changes when the catalogue does."""
        self.refresh()
        return self._stamp

    def _images(self) -> "Catalogue":
        if self._table is None:
            self.refresh()
        return self._table or self._read()

    def _read(self) -> "Catalogue":
        return Catalogue.of(self.project.read("images"), self.project.config.annotator.columns)

    def _file(self, source: Source, size: Size) -> Path:
        key = sha256(f"{CACHE_VERSION} {SIZES[size]} {QUALITY[size]} {source.content}".encode()).hexdigest()
        return self.folder / size / key[:2] / f"{key}.webp"

    async def _made(self, source: Source, size: Size, file: Path, viewer_name: str, pixels: int) -> bytes:
        async with self.queue.turn(viewer_name, pixels) as decoder, self._alone(file):
            kept = await in_lane("pictures", _whole, file)  # somebody else has asked for it meanwhile
            if kept is not None:
                return kept
            return await to_thread.run_sync(self._make, source, size, file, pixels, decoder, limiter=self.queue.threads)

    def _make(self, source: Source, size: Size, file: Path, pixels: int, decoder: Decoder) -> bytes:
        original = inside(self.project.pictures, source.path)
        data = decoder.webp(original, SIZES[size], box=source.box, quality=QUALITY[size], pixels=pixels)
        with suppress(InputError), replacing(file, durable=False) as temporary:  # if the disk is full, it is shown once
            for leftover in abandoned(file):
                leftover.unlink(missing_ok=True)
            temporary.write_bytes(data)  # `_whole` detects what a power cut damaged
        return data

    @asynccontextmanager
    async def _alone(self, file: Path) -> AsyncIterator[None]:
        """One decoder makes a picture, others that have their turn for the same one wait for it."""
        while (made := self._making.get(file)) is not None:
            await made.wait()
        self._making[file] = anyio.Event()
        try:
            yield
        finally:
            self._making.pop(file).set()


def _whole(file: Path) -> bytes | None:
    """The bytes of a picture on disk, if it is all there (a WebP says how long it is)."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    text = int.from_bytes(data[4:8], "little") + 8 if len(data) > 12 else -1
    return data if data[:4] == b"RIFF" and text == len(data) else None


def routes(base: str) -> list[Route]:
    """The one route."""
    return [Route(f"{base}/pictures/{{size}}/{{name:path}}", show)]


async def show(request: Request) -> Response:
    """A picture for the viewer whom its name was made for."""
    size, answer = request.path_params["size"], _missing("unknown size")
    if size not in SIZES:
        return answer

    async def leave_with_the_browser(scope: anyio.CancelScope) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async with anyio.create_task_group() as group:  # who leaves the page gives up their place in the queue
        group.start_soon(leave_with_the_browser, group.cancel_scope)
        answer = await _shown(request.scope["eds.viewer"].name, request.path_params["name"], size)
        group.cancel_scope.cancel()
    return answer


async def _shown(viewer_name: str, name: str, size: Size) -> Response:
    pictures = site().pictures
    try:
        source = await in_lane("pictures", pictures.opened, viewer_name, name)
        if source is None:
            return _missing("no such picture")
        data = await pictures.picture(source, size, viewer_name)
    except BusyError:
        headers = {"Cache-Control": "no-store", "Retry-After": "2"}
        return JSONResponse({"error": "too many pictures at once"}, 503, headers)
    except ImageError:
        return _missing("the picture cannot be read")
    except EdsError:
        return _missing("the catalogue cannot be read")
    return Response(data, media_type="image/webp", headers={"Cache-Control": FOREVER})


def _missing(why: str) -> Response:
    return JSONResponse({"error": why}, 404, {"Cache-Control": "no-store"})
