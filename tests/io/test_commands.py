"""Commands that take addresses: the same tables as from a folder, and clear words when the storage does not play."""

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from eds import io as storage
from eds import tables
from eds.benchmarks.folder import verify_checksums
from eds.cli import main
from eds.imaging import inside, open_rgb
from eds.project import Project
from eds.vectors import Vectors
from tests.object_storage import Storage

ROOT = "s3://shop/pictures"


class Eds:
    """Types a command in a project and reads the answer."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._patch = capsys, monkeypatch

    def __call__(self, project: Path, *words: object, code: int = 0) -> str:
        """What is said: the answer, or with a code the refusal."""
        self._patch.setattr(sys, "argv", ["eds", *map(str, words), "-p", str(project)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        assert ((ended.value.code or 0), "Traceback" in said.err) == (code, False), said.err
        return said.err if code else said.out

    def json(self, project: Path, *words: object) -> Any:
        return json.loads(self(project, *words, "--json"))


@pytest.fixture
def eds(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eds:
    return Eds(capsys, monkeypatch)


def jpeg(number: int) -> bytes:
    noise = np.random.default_rng(number).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).resize((48, 40)).save(stream, "JPEG")
    return stream.getvalue()


@pytest.fixture
def twins(tmp_path: Path, shop: Storage) -> tuple[Path, Path]:
    """Two projects of the same eight pictures, one of them cut: in a folder, and in a bucket."""
    here, there = tmp_path / "here", tmp_path / "there"
    Project.create(here, {"project.name": "shop"})
    Project.create(there, {"project.name": "shop", "images.root": ROOT})
    for number in range(8):
        name = f"c{number % 2}/p {number % 3}/{number}ä.jpg"
        data = jpeg(number)[: -200 if number == 5 else None]
        storage.put(here / "images" / name, data)
        storage.put(storage.join(ROOT, name), data)
    for odd in (".hidden/p/x.jpg", "c0/p/.h.jpg", "c0/p/notes.txt"):
        storage.put(here / "images" / odd, b"1")
        storage.put(storage.join(ROOT, odd), b"1")
    shop.well()
    return here, there


def read(project: Path, table: str) -> pd.DataFrame:
    return Project.open(project).read(table)


def test_a_scan_of_a_bucket_gives_the_table_of_the_folder(twins: tuple[Path, Path], shop: Storage, eds: Eds) -> None:
    here, there = twins
    told = [eds.json(project, "images", "scan", "--queries", "3") for project in twins]
    assert [one["read"] for one in told] == [8, 8]
    assert len(told[1]["bad"]) == 1
    assert told[0]["bad"] == told[1]["bad"]
    pd.testing.assert_frame_equal(read(here, "images"), read(there, "images"))
    shop.well()
    again = eds.json(there, "images", "scan", "--queries", "3")
    assert (again["read"], again["reused"]) == (0, 8)
    assert not [path for method, path, _ in shop.paths if method == "GET" and "list-type" not in path]
    assert eds.json(there, "images", "check")["counts"] == {}
    assert eds.json(there, "images", "scan", "--check", "header")["reused"] == 8


def test_a_list_of_pictures_elsewhere_is_imported(twins: tuple[Path, Path], eds: Eds, tmp_path: Path) -> None:
    """With their files looked at, or only when their vectors are computed: the digests are the same."""
    here = twins[0]
    eds(here, "images", "scan")
    wanted = read(here, "images")
    (tmp_path / "list.csv").write_text(wanted[["image_id", "path"]].to_csv(index=False))
    sources = []
    for name, more in (("looked", []), ("blind", ["--without-files"])):
        Project.create(tmp_path / name)
        eds(tmp_path / name, "images", "import", tmp_path / "list.csv", "--root", ROOT, *more)
        found = read(tmp_path / name, "images")
        assert found["path"].tolist() == wanted["path"].tolist()
        assert found["sha256"].notna().all() == (not more)
        eds(tmp_path / name, "embeddings", "compute", "-m", "m=descriptor:hsv")
        vectors = Vectors.open(tmp_path / name / "embeddings" / "m")
        sources.append(dict(zip(vectors.ids, vectors.sources, strict=True)))
    assert sources[0] == sources[1]
    assert len(sources[0]) == len(wanted)


def test_names_that_are_no_paths_and_objects_that_are_too_large_are_bad_files(
    shop: Storage, eds: Eds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Project.create(tmp_path / "p", {"images.root": ROOT})
    for name in ("good.jpg", "a/../b.jpg", "a//c.jpg", "d\\e.jpg"):
        shop.client().put_object(Bucket="shop", Key=f"pictures/{name}", Body=jpeg(1))
    shop.client().put_object(Bucket="shop", Key="pictures/large.jpg", Body=jpeg(1) + bytes(5000))
    monkeypatch.setattr("eds.imaging.locations.MAX_BYTES", 5000)
    told = eds.json(tmp_path / "p", "images", "scan", "--layout", "flat")
    assert {one["path"]: one["reason"].split(", more")[0] for one in told["bad"]} == {
        "a/../b.jpg": "its name is not a valid path",
        "a//c.jpg": "its name is not a valid path",
        "d\\e.jpg": "its name is not a valid path",
        "large.jpg": f"file of {len(jpeg(1)) + 5000:,} bytes",
    }
    assert read(tmp_path / "p", "images")["path"].tolist() == ["good.jpg"]


def test_the_root_is_set_by_the_first_scan_and_a_changed_object_is_seen(
    shop: Storage, tmp_path: Path, eds: Eds
) -> None:
    Project.create(tmp_path / "p")
    for number in range(3):
        storage.put(storage.join(ROOT, f"{number}.jpg"), jpeg(number))
    eds(tmp_path / "p", "images", "scan", f"{ROOT}/")
    assert f'root = "{ROOT}"' in (tmp_path / "p" / "eds.toml").read_text()
    storage.put(storage.join(ROOT, "1.jpg"), jpeg(9))
    assert "1 images differ from the table" in eds(tmp_path / "p", "images", "check", code=2)
    assert eds.json(tmp_path / "p", "images", "scan")["read"] == 1
    assert "is not the image root; that is s3://shop/pictures" in eds(
        tmp_path / "p", "images", "scan", "s3://shop/other", code=2
    )


def test_vectors_of_pictures_elsewhere_are_those_of_the_folder(twins: tuple[Path, Path], eds: Eds) -> None:
    found = []
    for project in twins:
        eds(project, "images", "scan")
        told = eds.json(project, "embeddings", "compute", "-m", "m=descriptor:hsv", "--workers", "3")
        assert (told["models"][0]["computed"], told["bad"]) == (7, [])
        vectors = Vectors.open(project / "embeddings" / "m")
        found.append(vectors.gather(sorted(vectors.ids.tolist())))
    np.testing.assert_array_equal(found[0], found[1])


def test_pictures_elsewhere_are_shown(twins: tuple[Path, Path], eds: Eds, tmp_path: Path) -> None:
    here, there = twins
    for project in twins:
        eds(project, "images", "scan")
        eds(project, "images", "sheet", "--out", tmp_path / f"{project.name}.png")
    assert (tmp_path / "here.png").read_bytes() == (tmp_path / "there.png").read_bytes()
    for path in read(there, "images")["path"]:
        assert open_rgb(inside(ROOT, path)).tobytes() == open_rgb(inside(here / "images", path)).tobytes()


@pytest.mark.parametrize(
    ("fault", "what"), [("AccessDenied", "permission denied"), ("SlowDown", "too many requests"), ("drop", "broke")]
)
def test_a_storage_that_refuses_stops_a_run_and_drops_no_picture(
    twins: tuple[Path, Path], shop: Storage, eds: Eds, fault: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, there = twins
    shop.fault = lambda method, path: fault if "/3" in path else None
    assert what in eds(there, "images", "scan", "--near", "off", code=2)
    assert not (there / "images.parquet").exists()
    shop.well()
    eds(there, "images", "scan")
    shop.fault = lambda method, path: fault if "/3" in path else None
    assert what in eds(there, "embeddings", "compute", "-m", "m=descriptor:hsv", code=2)
    shop.well()
    assert len(eds.json(there, "embeddings", "compute", "-m", "m=descriptor:hsv")["bad"]) == 0


def test_a_picture_that_is_gone_or_another_is_a_bad_image(twins: tuple[Path, Path], shop: Storage, eds: Eds) -> None:
    _, there = twins
    eds(there, "images", "scan")
    shop.client().delete_object(Bucket="shop", Key="pictures/c0/p 0/0ä.jpg")
    storage.put(storage.join(ROOT, "c1/p 1/1ä.jpg"), jpeg(77))
    told = eds.json(there, "embeddings", "compute", "-m", "m=descriptor:hsv")
    reasons = {one["image_id"]: one["reason"] for one in told["bad"]}
    assert "No such file" in reasons["c0/p 0/0ä.jpg"]
    assert "is not the file that was scanned" in reasons["c1/p 1/1ä.jpg"]
    assert len(reasons) == 2


def test_commands_that_need_a_folder_say_so(twins: tuple[Path, Path], eds: Eds) -> None:
    _, there = twins
    eds(there, "images", "scan")
    said = eds(there, "synthetic", "catalogue", "--products", "2", code=2)
    assert "the pictures are at s3://shop/pictures, and this needs them in a folder here" in said
    said = eds(there, "benchmarks", "export", "hf", there / "out", code=2)
    assert "truth.parquet: there are no labels. Decide first" in said


def test_a_secret_in_the_root_is_refused_by_every_command(tmp_path: Path, eds: Eds) -> None:
    Project.create(tmp_path / "p")
    (tmp_path / "p" / "eds.toml").write_text('[images]\nroot = "s3://AKIDX:hushhush@shop/p"\n')
    for words in (["status"], ["images", "scan"], ["run"]):
        said = eds(tmp_path / "p", *words, code=2)
        assert "a user or a secret" in said
        assert "hush" not in said
    Project.create(tmp_path / "q")
    said = eds(tmp_path / "q", "images", "scan", "s3://AKIDX:hushhush@shop/p", code=2)
    assert "a user or a secret" in said
    assert "hush" not in said + (tmp_path / "q" / "eds.toml").read_text()


@pytest.fixture
def embedded(twins: tuple[Path, Path], eds: Eds) -> tuple[Path, Path]:
    """The twins, the one here with vectors, which lie in the bucket as well."""
    here = twins[0]
    for project in twins:
        eds(project, "images", "scan")
    eds(here, "embeddings", "compute", "-m", "m=descriptor:hsv")
    for file in (here / "embeddings" / "m").iterdir():
        storage.put(storage.join("s3://shop/embeddings/m", file.name), file.read_bytes())
    vectors = Vectors.open(here / "embeddings" / "m")
    stream = io.BytesIO()
    np.save(stream, vectors.gather(vectors.ids))
    storage.put("s3://shop/v.npy", stream.getvalue())
    storage.put("s3://shop/ids.txt", "".join(f"{name}\n" for name in vectors.ids).encode())
    return twins


def test_vectors_are_imported_from_a_bucket(embedded: tuple[Path, Path], shop: Storage, eds: Eds) -> None:
    here, there = embedded
    eds(there, "embeddings", "import", "files", "s3://shop/v.npy", "s3://shop/ids.txt")
    eds(there, "embeddings", "import", "folder", "s3://shop/embeddings/m/")
    eds(there, "embeddings", "import", "local", here / "embeddings" / "m")
    wanted = Vectors.open(here / "embeddings" / "m")
    for name in ("files", "folder", "local"):
        found = Vectors.open(there / "embeddings" / name)
        np.testing.assert_array_equal(found.gather(wanted.ids), wanted.gather(wanted.ids))
    assert not (there / ".eds" / "fetched").exists()
    assert (
        "s3://shop/v.npy"
        in tables.read_provenance(there / "embeddings" / "files" / "ids.parquet", tables.EMBEDDINGS)[0].command
    )
    said = eds(there, "embeddings", "import", "x", "s3://shop/none.npy", "s3://shop/ids.txt", code=2)
    assert "s3://shop/none.npy: there is no such object" in said


def test_a_folder_of_vectors_that_is_not_whole_is_refused_with_all_faults(
    embedded: tuple[Path, Path], shop: Storage, eds: Eds
) -> None:
    _, there = embedded
    whole = storage.read("s3://shop/embeddings/m/00000.npy")
    storage.put("s3://shop/embeddings/m/00000.npy", whole[:-1])
    said = eds(there, "embeddings", "import", "x", "s3://shop/embeddings/m", code=2)
    assert "00000.npy: the object is not the one that was written: its sha256 is" in said
    shop.client().delete_object(Bucket="shop", Key="embeddings/m/00000.npy")
    said = eds(there, "embeddings", "import", "x", "s3://shop/embeddings/m", code=2)
    assert "00000.npy: there is no such object" in said
    assert not (there / "embeddings" / "x").exists()
    storage.put("s3://shop/embeddings/m/00000.npy", whole)
    eds(there, "embeddings", "import", "x", "s3://shop/embeddings/m")


def test_reports_and_exports_go_to_a_bucket(twins: tuple[Path, Path], shop: Storage, eds: Eds, tmp_path: Path) -> None:
    _, there = twins
    eds(there, "images", "scan")
    told = eds.json(there, "reports", "write", "--out", "s3://shop/out/page.html")
    assert list(told["files"]) == [f"s3://shop/out/page.{kind}" for kind in ("html", "json", "csv")]
    assert {one.name: one.size for one in storage.listing("s3://shop/out")} == {
        Path(name).name: size for name, size in told["files"].items()
    }
    puts = [path for method, path, _ in shop.paths if method == "PUT" and "/out/" in path]
    assert puts[-1] == "/shop/out/page.html"
    suspects = pd.DataFrame(
        {
            "query_id": ["c0/p 0/0ä.jpg"],
            "candidate_id": ["c1/p 1/1ä.jpg"],
            "origin": ["pool"],
            "batch": [0],
            "position": [0],
            "sources": [None],
            "stratum": [None],
            "probability": [1.0],
        }
    )
    Project.open(there).write(suspects, "suspects", tables.Provenance("test"))
    eds(there, "benchmarks", "export", "label-studio", "s3://shop/studio")
    puts = [path for method, path, _ in shop.paths if method == "PUT" and "/studio/" in path]
    assert puts[-1] == "/shop/studio/SHA256SUMS"
    for one in storage.listing("s3://shop/studio"):
        storage.put(tmp_path / "back" / one.name, storage.read(storage.join("s3://shop/studio", one.name)))
    assert verify_checksums([tmp_path / "back"]) == []
    again = eds(there, "benchmarks", "export", "label-studio", "s3://shop/studio", code=2)
    assert "there are objects already" in again
    shop.fault = lambda method, path: "AccessDenied" if method == "PUT" else None
    assert "permission denied" in eds(there, "reports", "write", "--out", "s3://shop/no/page.html", code=2)
    shutil.rmtree(tmp_path / "back")
