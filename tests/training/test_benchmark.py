"""`eds training benchmark` on tiny datasets in their true formats, against measures called one by one."""

import json
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from PIL import Image

from eds import tables
from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.hashing.collisions import lgap
from eds.hashing.ties import tie_metrics
from eds.project import Project
from eds.project.hash_benchmark import HashBenchmarkOptions
from eds.registry import DATASETS
from eds.training.benchmark import Method
from eds.training.cells import Cell, codes_of, measure_cell
from eds.training.hash_data import HashData
from eds.training.splits import STANDARD, Split

SIDE = 16
METHODS = ("lsh", "itq", "dsh", "talr-ap?scale=1:4")


def idx(array: NDArray[np.uint8]) -> bytes:
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def drawn(classes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """A bar of its own for each class, with noise."""
    rng = np.random.default_rng(3)
    pictures = rng.integers(0, 120, (len(classes), SIDE, SIDE))
    for picture, kind in zip(pictures, classes, strict=True):
        picture[4 * kind : 4 * kind + 4] += 100
    return pictures.astype(np.uint8)


def mnist(folder: Path, train: list[int], test: list[int]) -> Path:
    folder.mkdir()
    for name, classes in (("train", train), ("t10k", test)):
        kinds = np.array(classes)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(idx(drawn(kinds)))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(idx(kinds.astype(np.uint8)))
    return folder


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mnist(tmp_path_factory.mktemp("data") / "digits", [0, 1, 2] * 16, [2, 1, 0] * 4)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.create(tmp_path_factory.mktemp("benchmark") / "p", {})


def options(data: Path, **changed: Any) -> HashBenchmarkOptions:
    values: dict[str, Any] = {"methods": METHODS, "bits": (4, 6), "seeds": 2, "epochs": 2, "batch": 16}
    return HashBenchmarkOptions(data=f"mnist={data}", split="official", **{**values, **changed})


def test_a_dry_run_computes_nothing(digits: Path, project: Project) -> None:
    planned = project.plan(lambda rehearsal: rehearsal.benchmark_hashing(options(digits)))
    assert "16 runs" in planned.text
    assert not (project.root / "hashing" / "mnist").exists()


def test_a_benchmark_has_a_table_its_pictures_and_resumes(digits: Path, project: Project) -> None:
    found = project.benchmark_hashing(options(digits))
    assert [(cell.method, cell.bits, cell.seed) for cell in found.cells] == [
        (method, bits, seed) for seed in (0, 1) for bits in (4, 6) for method in METHODS
    ]
    assert not [cell.failed for cell in found.cells if cell.failed]
    assert all(cell.map_worst <= cell.map <= cell.map_best for cell in found.cells)
    rows = found.summary.set_index(["method", "bits"])
    values = [cell.map for cell in found.cells if (cell.method, cell.bits) == ("itq", 6)]
    assert rows.loc[("itq", 6), "map"] == pytest.approx(np.mean(values))
    assert rows.loc[("itq", 6), "map_sd"] == pytest.approx(np.std(values, ddof=1))
    for part in ("48 training images, 12 queries against 48 images", "48 of which were trained on", "4, 6 bits"):
        assert part in found.protocol
    page = Path(found.page).read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert page.count('class="strip"') == 3 * len(METHODS)
    assert page.count("data:image/jpeg") == 3 * (1 + 12 * len(METHODS))
    assert len(found.strips) == 3
    for sheet in found.strips.values():  # a row for the query and for each method, without an image cut off
        assert sheet.height % (1 + len(METHODS)) == 0
        assert len(sheet.getcolors(1 << 20) or []) > 20
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert set(found.charts()) == {
        "Histograms of the 4-bit codes",
        "Accuracy against code usage, 4 bits",
        "mLGAP against mAP by code length",
        "mAP by code length",
        "mLGAP@2 by code length",
    }

    def seen() -> dict[str, int]:
        return {file.name: file.stat().st_mtime_ns for file in (Path(found.folder) / "cells").iterdir()}

    before = seen()
    lost = next(cell for cell in found.cells if cell.method == "dsh" and cell.bits == 6)
    (Path(found.folder) / "cells" / f"{lost.key}.json").unlink()
    again = project.benchmark_hashing(options(digits))
    changed = {name.rpartition(".")[0] for name, time in seen().items() if before[name] != time}
    assert changed == {lost.key}
    assert [replaced(cell) for cell in again.cells] == [replaced(cell) for cell in found.cells]
    assert project.benchmark_hashing(options(digits, methods=("dsh",), epochs=3)).cells[0].key != lost.key


def replaced(cell: Cell) -> dict[str, Any]:
    return {name: value for name, value in asdict(cell).items() if name != "seconds"}


def test_numbers_are_those_of_lists_one_by_one(digits: Path, project: Project) -> None:
    found = project.benchmark_hashing(options(digits, methods=("itq",), seeds=1, bits=(6,)))
    cell = found.cells[0]
    packed = codes_of(Path(found.folder), cell)
    kinds = np.array([0, 1, 2] * 16 + [2, 1, 0] * 4)
    bits = np.where((packed[:, None] >> np.arange(6, dtype=np.uint64)) & np.uint64(1), 1, -1)
    lists, gaps = [], []
    for query in range(48, 60):
        groups: list[list[int]] = [[] for _ in range(7)]
        for item in range(48):
            groups[int((bits[item] != bits[query]).sum())].append(int(kinds[item] == kinds[query]))
        lists.append(tie_metrics(groups))
        relevant = (kinds[:48] == kinds[query]).astype(int).tolist()
        gaps.append(lgap(bits[query], bits[:48].tolist(), relevant, 2)["lgap"])
    assert cell.map == pytest.approx(np.mean([one["ap_total"] for one in lists]))
    assert cell.map_best == pytest.approx(np.mean([one["ap_best"] for one in lists]))
    assert cell.map_worst == pytest.approx(np.mean([one["ap_worst"] for one in lists]))
    assert cell.mlgap == pytest.approx(np.mean(gaps))
    assert cell.distinct == len(np.unique(packed[:48]))


def test_a_query_that_is_searched_itself_is_not_in_its_own_list() -> None:
    data = HashData("four", np.zeros((4, 2, 2), np.uint8), pd.Series(["a", "a", "b", "b"]))
    every = np.arange(4)
    parts = Split(every, every[:0], every, every)
    packed = np.array([0, 1, 3, 3], np.uint64)
    found = measure_cell(packed, 2, data.labels(parts), parts, None)
    values = [tie_metrics(groups)["ap_total"] for groups in ([[], [1], [0, 0]], [[], [1, 0, 0], []])]
    values += [tie_metrics([[1], [0], [0]])["ap_total"]] * 2
    assert found["map"] == pytest.approx(np.mean(values))
    others = [
        lgap(code, rest, similar, 2)["lgap"]
        for code, rest, similar in (
            ([-1, -1], [[1, -1], [1, 1], [1, 1]], [1, 0, 0]),
            ([1, -1], [[-1, -1], [1, 1], [1, 1]], [1, 0, 0]),
            ([1, 1], [[-1, -1], [1, -1], [1, 1]], [0, 0, 1]),
            ([1, 1], [[-1, -1], [1, -1], [1, 1]], [0, 0, 1]),
        )
    ]
    assert found["mlgap"] == pytest.approx(np.mean(others))


@pytest.mark.parametrize("name", [*STANDARD, "2/3", "stratified"])
def test_splits_keep_queries_apart(name: str) -> None:
    size = 6600 if name == "cifar10-2" else 700
    data = HashData("drawn", np.zeros((2 * size, 1, 1), np.uint8), pd.Series(["a", "b"] * size))
    one, two = data.split(name, 0), data.split(name, 1)
    assert not np.intersect1d(one.test, one.train).size
    assert not np.intersect1d(one.test, one.database).size
    assert not np.array_equal(one.test, two.test)
    counts = {"cifar10": (200, 1000, 200), "cifar10-1": (200, 1000, 1200), "2/3": (4, 6, 1396)}
    if name in counts:
        assert (len(one.test), len(one.train), len(one.database)) == counts[name]


def test_the_catalogue_is_a_dataset_by_its_own_split(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p", {})
    kinds = np.array([0, 1] * 12)
    rows = []
    for number, (picture, kind) in enumerate(zip(drawn(kinds), kinds, strict=True)):
        path = project.image_root / f"{number:02d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path)
        rows.append((path.name, path.name, f"p{number}", f"c{kind}", "both"))
    frame = pd.DataFrame(rows, columns=["image_id", "path", "product_id", "category", "role"])
    from eds.images.sources import finish_rows

    project.write(finish_rows(frame, "drawn"), "images", tables.Provenance("drawn"))
    wanted = HashBenchmarkOptions(methods=("lsh", "two-level-dsh"), bits=(4,), seeds=1, epochs=1, batch=8)
    drawn_here = project.benchmark_hashing(wanted)
    assert (drawn_here.data, drawn_here.split) == ("catalogue", "stratified")
    from eds.project.splits import SplitOptions

    project.split(SplitOptions(test_share=0.5, validation_share=0, searched="others"))
    by_table = project.benchmark_hashing(wanted)
    assert by_table.split.startswith("table splits")
    assert (by_table.trained_on, by_table.queries, by_table.searched) == (12, 12, 12)


def call(project: Project, *words: str) -> Any:
    done = CliRunner().invoke(cli, ["training", "benchmark", *words, "-p", str(project.root), "--json"])
    if done.exception:
        raise done.exception
    return json.loads(done.stdout)


def test_the_command_says_what_could_not_be_fitted(digits: Path, project: Project, tmp_path: Path) -> None:
    words = ["--data", f"mnist={digits}", "--bits", "4", "--methods", "lsh,two-level-dsh", "--seeds", "1"]
    found = call(project, *words, "--split", "official", "--out", str(tmp_path / "page.html"))
    assert [bool(cell["failed"]) for cell in found["cells"]] == [False, True]
    assert "one level of classes" in found["cells"][1]["failed"]
    assert [row["method"] for row in found["summary"]] == ["lsh"]
    assert (tmp_path / "page.html").exists()
    assert json.loads((tmp_path / "page.json").read_text())["sections"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--bits", "65"], "65 bits"),
        (["--bits", "0"], "0 bits"),
        (["--bits", "4,x"], "'x' is not a whole number"),
        (["--seeds", "0"], "at least one seed"),
        (["--methods", "itqq"], "unknown objective 'itqq'"),
        (["--methods", "lsh?alpha=1"], "neither margin nor alpha"),
        (["--methods", "dsh?beta=1"], "unknown option beta"),
        (["--methods", "itq?scale=2"], "itq has no scale"),
        (["--methods", "dsh?alpha=much"], "margin, alpha and bins are numbers"),
        (["--split", "cifar11"], "unknown split"),
        (["--split", "cifar10"], "takes 600 images of each category"),
        (["--data", "mnist=nowhere"], "the files of mnist are not there"),
        (["--data", "cifar12"], "unknown dataset"),
        (["--network", "cnn:none", "--methods", "dsh"], "no network cnn:none"),
        (["--k", "0"], "k is 0"),
        (["--epochs", "0"], "epochs is 0"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_computed(
    words: list[str], text: str, digits: Path, project: Project
) -> None:
    with pytest.raises(EdsError) as refused:
        call(project, *["--data", f"mnist={digits}", "--methods", "lsh", "--bits", "4", "--seeds", "1", *words])
    assert text in str(refused.value)


def test_cifar100_is_a_dataset_of_superclasses_and_one_of_classes(tmp_path: Path) -> None:
    pixels = np.zeros((4, 3072), np.uint8)
    labels = np.array([[0, 7], [0, 9], [1, 3], [1, 3]], np.uint8)  # superclass, class
    for name in ("train", "test"):
        (tmp_path / f"{name}.bin").write_bytes(np.concatenate([labels, pixels], axis=1).tobytes())
    found = {name: DATASETS.load(name).read(tmp_path).rows for name in ("cifar100", "cifar100-fine")}
    assert found["cifar100"]["category"].nunique() == 2
    assert found["cifar100"]["product_id"].nunique() == found["cifar100-fine"]["category"].nunique() == 3


def test_a_dataset_by_name_is_the_whole_of_that_dataset(tmp_path: Path) -> None:
    pixels = np.zeros((4, 3072), np.uint8)
    ten, hundred = (np.concatenate([np.zeros((4, n), np.uint8), pixels], axis=1).tobytes() for n in (1, 2))
    for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:
        (tmp_path / f"{name}.bin").write_bytes(ten)
    assert len(DATASETS.load("cifar10").read(tmp_path).pixels) == 24
    for name in ("cifar100", "cifar100-fine"):
        with pytest.raises(InputError, match="not the whole of CIFAR-100: there is no test, no train"):
            DATASETS.load(name).read(tmp_path)
    (tmp_path / "data_batch_4.bin").unlink()
    with pytest.raises(InputError, match="there is no data_batch_4"):
        DATASETS.load("cifar10").read(tmp_path)
    other = tmp_path / "100"
    other.mkdir()
    for name in ("train", "test"):
        (other / f"{name}.bin").write_bytes(hundred)
    with pytest.raises(InputError, match="not the whole of CIFAR-10: there is no data_batch_1"):
        DATASETS.load("cifar10").read(other)
    half = mnist(tmp_path / "digits", [0, 1], [0, 1])
    (half / "train-images-idx3-ubyte").unlink()
    with pytest.raises(InputError, match="there is no train-images-idx3-ubyte"):
        DATASETS.load("mnist").read(half)


@pytest.mark.parametrize(
    ("train", "test", "text"),
    [([1] * 8, [1] * 4, "all images are of one class"), ([0, 1, 0, 1, 2], [0, 1], "1 classes have one image: 2")],
)
def test_labels_that_teach_nothing_are_refused(
    train: list[int], test: list[int], text: str, tmp_path: Path, project: Project
) -> None:
    with pytest.raises(InputError) as refused:
        project.benchmark_hashing(options(mnist(tmp_path / "d", train, test)))
    assert text in str(refused.value)


def test_a_run_that_diverges_is_told_and_the_others_stand(digits: Path, project: Project) -> None:
    found = project.benchmark_hashing(
        options(digits, methods=("lsh", "dsh"), bits=(4,), seeds=1, learning_rate=1000.0, warm_up=0.0, epochs=6)
    )
    assert not found.cells[0].failed
    assert "epoch" in found.cells[1].failed
    assert len(found.summary) == 1


@pytest.mark.parametrize("name", DATASETS.names())
def test_every_dataset_says_where_it_is_and_how_to_get_it(name: str) -> None:
    dataset = DATASETS.load(name)
    assert callable(dataset.read)
    assert dataset.GET
    assert all(Path(place).is_absolute() for place in dataset.PLACES)
    assert dataset.SPLIT in (*STANDARD, "official")


def test_methods_parse_with_their_options() -> None:
    method = Method.parse("dispersed-dsh?alpha=0.1&margin=1")
    assert (method.pairing.alpha, method.pairing.margin, method.trained) == (0.1, 1.0, True)
