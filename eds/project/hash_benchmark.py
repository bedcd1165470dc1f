"""A benchmark of hash functions on a dataset or on the catalogue: one table, its pictures, a page."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from eds.errors import InputError
from eds.project.results import Result
from eds.project.runs import holding
from eds.project.train import TrainingOptions
from eds.registry import DATASETS

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from PIL import Image

    from eds.project import Project
    from eds.training.benchmark import Setting
    from eds.training.cells import Cell
    from eds.training.hash_data import HashData
    from eds.training.splits import Split

CATALOGUE = "catalogue"
BITS = (12, 24, 32, 48)
BASELINES_SHOWN = ("lsh", "sklsh", "sph", "sh", "pca-sign", "pca-rr", "itq", "sdh")
METHODS = (*BASELINES_SHOWN, "dsh", "dispersed-dsh", "talr-ap", "cross-entropy")


@dataclass(frozen=True)
class HashBenchmarkOptions(TrainingOptions):
    """What is compared, on which data, and how networks are trained."""

    USUAL: ClassVar[Mapping[str, Any]] = {**TrainingOptions.USUAL, "epochs": 20, "batch": 100}

    data: str = CATALOGUE  # or a dataset's name, NAME=FOLDER where its files are elsewhere
    bits: tuple[int, ...] = BITS
    methods: tuple[str, ...] = METHODS
    seeds: int = 3
    split: str | None = None  # None: the dataset's usual one; of the catalogue its table splits, else stratified
    network: str = "cnn:dsh"
    crop: int = 0  # pixels by which images are moved at random in training
    k: int | None = None  # cut of the lists; None: whole
    device: str = "cpu"


@dataclass(frozen=True)
class HashBenchmarkResult(Result):
    """The numbers of every method, length and seed, and their means."""

    data: str
    protocol: str
    split: str
    images: int
    trained_on: int
    queries: int
    searched: int
    searched_and_trained_on: int
    summary: "pd.DataFrame"  # by method and bits: means over seeds, and _sd
    cells: "list[Cell]"  # by method, bits and seed
    page: str
    folder: str
    figures: "dict[str, alt.TopLevelMixin]" = field(repr=False)
    strips: "dict[str, Image.Image]" = field(repr=False)  # the nearest images of some queries, by the query's title

    def charts(self) -> "dict[str, Any]":
        """Histograms of codes, accuracy against code usage, mAP and mLGAP by code length."""
        return self.figures


def benchmark_hashing(
    project: "Project", options: HashBenchmarkOptions, out: Path | None = None
) -> HashBenchmarkResult:
    """Run the benchmark, or what is missing of it, and write its page; see `Project.benchmark_hashing`."""
    from eds.backbones.trainable import trainable
    from eds.reports.files import write_report
    from eds.reports.hash_benchmark import benchmark_page, figures, strip_sheets
    from eds.training.benchmark import Method, run_cells
    from eds.training.cells import summarise
    from eds.training.devices import devices_of

    _check(options)
    methods = [Method.parse(text) for text in dict.fromkeys(options.methods)]
    if any(method.trained for method in methods):
        devices_of(options.device)  # refused before any image is read
    name, _, place = options.data.partition("=")
    folder = project.root / "hashing" / name
    page = out or folder / "benchmark.html"
    if project.dry_run:
        if name != CATALOGUE:
            _located(name, place)
        runs = len(methods) * len(set(options.bits)) * options.seeds
        project.would("change" if folder.exists() else "make", folder, f"{runs:,} runs, or what is missing of them")
        project.would("replace" if page.exists() else "make", page)
        project.end_rehearsal()
    with holding(folder, f"the benchmark of {name} runs in another process"):
        data, network = _data(project, name, place, options, folder)
        if any(method.trained for method in methods):
            trainable(network)  # refused before anything is computed
        setting = _setting(project, data, network, name, options)
        seeds = [setting.plan.seed + number for number in range(options.seeds)]
        lengths = sorted(set(options.bits))
        with project.progress("benchmark", "steps") as progress:
            cells = run_cells(data, methods, lengths, seeds, setting, folder, progress, project.say)
        summary = summarise(cells)
        if summary.empty:
            reasons = list(dict.fromkeys(f"{cell.method}: {cell.failed}" for cell in cells))
            raise InputError("no method could be fitted", where=name, hint="Fix these:", faults=reasons[:10])
        parts = data.split(setting.split, seeds[0])
        protocol = _protocol(data, parts, setting, lengths, seeds)
        made = {"data": options.data, "split": setting.split, "network": network, "epochs": setting.plan.epochs}
        write_report(benchmark_page(data, cells, parts, protocol, folder, made), page)
        drawn = figures(summary, cells, folder, parts)
        strips = strip_sheets(data, cells, folder, parts)
    import numpy as np

    return HashBenchmarkResult(
        name,
        protocol,
        setting.split,
        len(data.pixels),
        len(parts.train),
        len(parts.test),
        len(parts.database),
        int(np.isin(parts.database, parts.train).sum()),
        summary,
        cells,
        str(page),
        str(folder),
        {title: figure.chart(**figure.data) for title, figure in drawn.items()},
        strips,
    )


def _check(options: HashBenchmarkOptions) -> None:
    from eds.training.heads import check_bits

    if options.seeds < 1 or not options.bits or not options.methods:
        raise InputError("nothing to compute", where="benchmark", hint="Name bits, methods, and at least one seed.")
    for bits in options.bits:
        check_bits(bits)
    if options.k is not None and options.k < 1:
        raise InputError(f"k is {options.k}", where="benchmark", hint="Give at least 1, or leave it out.")


def _data(
    project: "Project", name: str, place: str, options: HashBenchmarkOptions, folder: Path
) -> "tuple[HashData, str]":
    """The images with their classes, and the text of the network that fits them."""
    from eds.training.hash_data import HashData

    if name == CATALOGUE:
        if place:
            raise InputError("the catalogue is the project's own", where="--data", hint="Write --data catalogue.")
        return _catalogue(project, options, folder)
    arrays = DATASETS.load(name).read(_located(name, place))
    rows = arrays.rows.reset_index(drop=True)
    data = HashData(name, arrays.pixels, rows["category"], rows.get("product_id"), rows["phase"])
    return data, _network(options, arrays.pixels.shape[1])


def _located(name: str, place: str) -> Path:
    """The folder of a dataset's files: the one named, or the first where a system keeps it."""
    dataset = DATASETS.load(name)
    places = [Path(place).expanduser()] if place else [Path(path) for path in dataset.PLACES]
    there = next((path for path in places if path.exists()), None)
    if there is None:
        raise InputError(
            f"the files of {name} are not there", where=str(places[0]), hint=f"{dataset.GET} --data {name}=FOLDER."
        )
    return there


def _network(options: HashBenchmarkOptions, side: int | None) -> str:
    """The network's text; one that is trained from its start takes the images in their own size."""
    from eds.backbones import preset_text

    text = preset_text(options.network)
    if not text.startswith("cnn:") or "@" in text:
        return text
    if side is not None and "size=" not in text:
        text += f"{'&' if '?' in text else '?'}size={side}"
    return text + f"{'&' if '?' in text else '?'}random_init=true"


def _catalogue(project: "Project", options: HashBenchmarkOptions, folder: Path) -> "tuple[HashData, str]":
    from eds.backbones.trainable import trainable
    from eds.training.hash_data import HashData
    from eds.training.pictures import prepare_images
    from eds.training.splits import rows_of

    network = _network(options, None)
    images = project.read("images").sort_values("image_id", kind="stable", ignore_index=True)
    if lacking := int(images["category"].isna().sum()):
        raise InputError(
            f"{lacking:,} images have no category, which says what is similar",
            where=str(project.path("images")),
            hint="Fill the column, or name a dataset: --data fashion-mnist.",
        )
    ids = images["image_id"].tolist()
    steps = trainable(network).preprocessing
    with project.progress("reading", "images") as progress:
        pixels = prepare_images(images, ids, project.image_root, steps, folder, progress)
    own = project.path("splits").exists() and options.split is None
    parts = rows_of(project.read("splits"), ids) if own else None
    category = images["category"].astype("str")
    return HashData(CATALOGUE, pixels, category, images["product_id"], images.get("phase"), parts), network


def _setting(project: "Project", data: "HashData", network: str, name: str, options: HashBenchmarkOptions) -> "Setting":
    from eds.training.benchmark import Setting

    usual = "stratified" if name == CATALOGUE else str(DATASETS.load(name).SPLIT)
    split = options.split or usual
    if data.parts is not None:  # what decides the numbers is which images are where, not the table's name
        hashed = hashlib.sha256(b"".join(part.tobytes() for part in vars(data.parts).values()))
        split = f"table splits {hashed.hexdigest()[:8]}"
    return Setting(split, network, options.plan(project, "last"), options.crop, options.device, options.k)


def _protocol(data: "HashData", parts: "Split", setting: "Setting", lengths: list[int], seeds: list[int]) -> str:
    """The protocol in one line: without it a number says little."""
    import numpy as np

    both = int(np.isin(parts.database, parts.train).sum())
    seen = f", {both:,} of which were trained on" if both else ""
    cut = "whole lists" if setting.k is None else f"the first {setting.k:,} of each list"
    return (
        f"{data.name}, split {setting.split}: {len(parts.train):,} training images, {len(parts.test):,} queries "
        f"against {len(parts.database):,} images{seen}; {', '.join(map(str, lengths))} bits; mAP of {cut}, divided by "
        f"all relevant, expected over ties [worst to best order]; similar is the same class; seeds "
        f"{', '.join(map(str, seeds))} of split, start and batches."
    )
