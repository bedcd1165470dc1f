"""Pictures: opaque names that open for one viewer, sizes and boxes kept right, whatever lies in the cache."""

import base64
import io
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import anyio
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some
from PIL import Image
from starlette.testclient import TestClient

import annotator_ui
from annotator_ui.app_state import Site
from annotator_ui.auth.secret import read_secret
from annotator_ui.picture_prefetch import PicturePrefetch, wanted
from annotator_ui.picture_tokens import PictureTokens
from annotator_ui.pictures import SIZES, Pictures, Size
from eds import tables
from eds.errors import ProjectError
from eds.imaging import Decoder
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.queue import next_batch
from tests.annotator.sites import client_for, store_of

LARGE, CLEAR, HALF, DAMAGED, MISSING = (
    f"model-x/{name}" for name in ("large", "clear", "right half", "damaged", "missing")
)


def _shown(client: TestClient, url: str) -> Image.Image:
    answer = client.get(url)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/webp"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    return Image.open(io.BytesIO(answer.content))


@pytest.mark.parametrize(("size", "longest"), [("thumb", 320), ("large", 1200), ("full", 2400)])
def test_each_size_keeps_the_picture_and_its_proportions(site: Site, size: str, longest: int) -> None:
    shown = _shown(client_for(site, "ann"), site.pictures.url("ann", LARGE, size))  # type: ignore[arg-type]
    assert shown.size == (longest, round(longest * 2 / 3))
    with Image.open(site.project.image_root / "large.jpg") as file:
        wanted_pixels = np.asarray(file.resize(shown.size, Image.Resampling.LANCZOS), dtype=float)
    assert np.abs(np.asarray(shown.convert("RGB"), dtype=float) - wanted_pixels).mean() < 3


def test_small_pictures_are_not_blown_up_and_boxes_are_cut_out(site: Site) -> None:
    client = client_for(site, "ann")
    clear = _shown(client, site.pictures.url("ann", CLEAR, "large"))
    assert clear.size == (200, 100)
    assert np.asarray(clear.convert("RGB")).min() >= 250  # transparent pixels lie on white
    half = _shown(client, site.pictures.url("ann", HALF, "thumb"))
    assert half.size == (160, 320)
    assert np.abs(np.asarray(half.convert("RGB")).reshape(-1, 3).mean(axis=0) - [0, 255, 0]).max() < 8


def test_a_name_opens_for_its_viewer_only_and_tells_nothing(site: Site) -> None:
    url = site.pictures.url("ann", LARGE, "thumb")
    assert client_for(site, "ann").get(url).status_code == 200
    for other in ("bob", "lea", "ada"):
        assert client_for(site, other).get(url).status_code == 404
    assert client_for(site).get(url).status_code == 401
    assert site.pictures.url("bob", LARGE, "thumb") != url
    name = url.rsplit("/", 1)[1]
    plain = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4))
    assert b"model" not in plain
    assert b"large" not in plain


STRANGE = ("huge/{}", "thumb/x", "thumb/{}x", "thumb/..%2f", "thumb/large.jpg", "thumb/model-x%2flarge", "thumb/é")


@pytest.mark.parametrize("path", [f"/pictures/{one}" for one in STRANGE])
def test_other_names_and_sizes_open_nothing(site: Site, path: str) -> None:
    answer = client_for(site, "ann").get(path.format(site.pictures.name("ann", LARGE)))
    assert answer.status_code == 404


@pytest.mark.parametrize("image", [DAMAGED, MISSING, "unknown"])
def test_a_picture_that_cannot_be_shown_says_so_without_its_path(site: Site, image: str) -> None:
    answer = client_for(site, "ann").get(site.pictures.url("ann", image, "thumb"))
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {"error"}
    assert image not in answer.text
    assert ".jpg" not in answer.text


def test_names_survive_a_restart_and_end_when_the_picture_changes(site: Site) -> None:
    name = site.pictures.name("ann", LARGE)
    again = Pictures(site.project, read_secret(site.project.root), "")
    assert again.name("ann", LARGE) == name
    assert (site.project.root / ".eds" / "annotator.key").stat().st_mode & 0o777 == 0o600
    images = site.project.read("images")
    images.loc[images["image_id"] == LARGE, "sha256"] = "f" * 64
    site.project.write(images, "images", tables.Provenance("test"))
    site.pictures.refresh()
    assert site.pictures.opened("ann", name) is None  # the browser keeps the old picture under the old name
    assert site.pictures.opened("ann", site.pictures.name("ann", LARGE)) is not None


def test_a_damaged_secret_is_told(site: Site) -> None:
    key = site.project.root / ".eds" / "annotator.key"
    key.parent.mkdir(exist_ok=True)
    key.write_bytes(b"short")
    with pytest.raises(ProjectError, match="damaged"):
        read_secret(site.project.root)


def test_many_processes_agree_on_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: read_secret(tmp_path), range(32)))) == 1


def made(site: Site, image_id: str, size: Size = "thumb", times: int = 1, viewer: str = "ann") -> list[bytes]:
    """The picture, asked for so many times at once."""
    source = site.pictures.source(image_id)
    assert source is not None
    answers: list[bytes] = []

    async def ask() -> None:
        answers.append(await site.pictures.picture(source, size, viewer))

    async def together() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(times):
                group.start_soon(ask)

    anyio.run(together)
    return answers


def test_pictures_are_made_once_and_a_damaged_file_is_made_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[str] = []
    make = Pictures._make

    def counted(self: Pictures, source: object, size: str, *rest: object) -> bytes:
        sizes.append(size)
        return make(self, source, size, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Pictures, "_make", counted)
    answers = made(site, LARGE, times=16)
    assert (len(set(answers)), len(answers), sizes) == (1, 16, ["thumb"])
    (file,) = (site.pictures.folder / "thumb").glob("*/*.webp")
    for spoilt in (b"", answers[0][:100], b"x" * len(answers[0])):
        file.write_bytes(spoilt)
        assert made(site, LARGE) == answers[:1]
    assert sizes == ["thumb"] * 4
    assert not list(site.pictures.folder.rglob("*.tmp"))
    assert not site.pictures._making


def test_a_decoder_that_dies_costs_one_picture_at_most(site: Site) -> None:
    before = made(site, LARGE)
    (decoder,) = site.pictures.queue._decoders[:1]
    assert decoder.child.pid is not None
    os.kill(decoder.child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, decoder.child.pid, os.WEXITED | os.WNOWAIT)
    assert [len(data) > 100 for data in (*before, *made(site, CLEAR), *made(site, LARGE, "large"))] == [True] * 3


KILLED = """
import os, signal, sys
import anyio
from pathlib import Path
from types import ModuleType
from annotator_ui.pictures import Pictures
from eds.project import Project
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
pictures = Pictures(Project.open(Path(sys.argv[1])), bytes(32), "")
anyio.run(pictures.picture, pictures.source(sys.argv[2]), "thumb")
"""


def test_what_a_process_that_was_killed_left_is_cleared_and_no_others_is(site: Site) -> None:
    source = site.pictures.source(LARGE)
    assert source is not None
    file = site.pictures._file(source, "thumb")
    subprocess.run([sys.executable, "-c", KILLED, site.project.root, LARGE], check=False)
    (left,) = file.parent.glob(".*.tmp")
    machine = left.name.removeprefix(f".{file.name}.").partition("-")[0]
    elsewhere = left.with_name(left.name.replace(machine, "0" * 8))  # another container's, which may be at it
    elsewhere.write_bytes(b"RIFF")
    assert made(site, LARGE) == [file.read_bytes()]
    assert sorted(path.name for path in file.parent.iterdir()) == [elsewhere.name, file.name]


def test_a_full_disk_costs_the_cache_not_the_picture(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert client_for(site, "ann").get(site.pictures.url("ann", CLEAR, "thumb")).status_code == 200


def test_pictures_are_prepared_in_the_order_of_the_work(site: Site) -> None:
    images = site.project.read("images")["image_id"].tolist()
    pairs = images_pairs(images)
    create_campaign(store_of(site.owner), Plan("first"), pairs, ["ann", "bob"])
    order = wanted(site.owner, ["first"])
    assert sorted(order) == sorted(images)
    first = {task.query_id for name in ("ann", "bob") for task in next_batch(store_of(site.owner), "first", name, 1)}
    assert set(order[: len(first)]) == first
    preparation = PicturePrefetch(site.pictures, site.owner)
    anyio.run(preparation.prepare, order)
    assert (preparation.state.ready, preparation.state.unreadable, preparation.state.total) == (3, 2, 5)
    assert preparation.state.finished
    for image in (LARGE, CLEAR, HALF):
        source = site.pictures.source(image)
        assert source is not None
        assert site.pictures.is_made(source, "thumb")
        assert site.pictures.is_made(source, "large")
        assert not site.pictures.is_made(source, "full")


def images_pairs(images: list[str]) -> pd.DataFrame:
    rows = [(query, candidate) for query in images[:2] for candidate in images if candidate != query]
    return pd.DataFrame(rows, columns=["query_id", "candidate_id"])


@given(viewer=some.text(max_size=30), image=some.text(max_size=200), content=some.text(max_size=20))
def test_names_open_again_whatever_they_hold(viewer: str, image: str, content: str) -> None:
    try:
        image.encode()
    except UnicodeEncodeError:
        return
    tokens = PictureTokens(bytes(range(32)))
    name = tokens.seal(viewer, image, content)
    opened = tokens.open(viewer, name)
    assert opened is not None
    assert opened[0] == image
    assert tokens.open(f"{viewer}x", name) is None
    assert PictureTokens(bytes(32)).open(viewer, name) is None
    assert set(name) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@given(data=some.binary(max_size=80))
def test_random_bytes_open_nothing(data: bytes) -> None:
    name = base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert PictureTokens(bytes(range(32))).open("ann", name) is None


@given(place=some.integers(0, 10_000), flip=some.integers(1, 255))
def test_a_changed_name_opens_nothing(place: int, flip: int) -> None:
    tokens = PictureTokens(bytes(range(32)))
    data = bytearray(base64.urlsafe_b64decode(tokens.seal("ann", "an image", "x") + "=="))
    data[place % len(data)] ^= flip
    assert tokens.open("ann", base64.urlsafe_b64encode(bytes(data)).decode().rstrip("=")) is None


def test_sizes_are_what_pages_ask_for() -> None:
    assert list(SIZES) == ["thumb", "large", "full"]
    assert os.sep not in "".join(SIZES)


def test_a_decoder_starts_while_a_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Streamlit makes its script the main module, which a new child process loads first."""
    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    script = ModuleType("__main__")
    script.__file__ = str(Path(annotator_ui.__file__).with_name("app.py"))
    monkeypatch.setitem(sys.modules, "__main__", script)
    decoder = Decoder()
    try:
        assert decoder.webp(tmp_path / "a.png", 20, quality=80, pixels=1200)
    finally:
        decoder.close()
