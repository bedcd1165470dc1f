"""A project and its verbs: `eds.Project`.

Each verb calls the module of its name, loaded when it is called. The file is longer than others because every verb is a
method here.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds import config
from eds import io as storage
from eds.errors import ProjectError
from eds.io.files import write_text
from eds.project.files import ProjectFiles, State
from eds.project.label_store import explain_missing_package, opened
from eds.project.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from eds.choices import (
        CategoryRule,
        Device,
        DrawDesign,
        DuplicateDecision,
        FileCheck,
        GivenRole,
        ImagePartners,
        MapMethod,
        OnBad,
        Precision,
        Runtime,
        Similarity,
        StoredType,
        UniverseChoice,
    )
    from eds.io import Address
    from eds.metrics import Measure
    from eds.project.agreement import AgreementResult
    from eds.project.analyse import AnalysisResult
    from eds.project.assistants import Assistants
    from eds.project.budget import BudgetOptions, BudgetResult
    from eds.project.calibration import Calibration
    from eds.project.campaigns import Campaigns
    from eds.project.catalogue import CatalogueResult, CheckResult, ScanOptions
    from eds.project.dataset_card import CardText
    from eds.project.decide import DecideResult
    from eds.project.draw import DrawResult, ModelPairsResult, NegativesResult, RandomResult
    from eds.project.draw_design import DesignResult
    from eds.project.embed import CheckVectorsResult, EmbeddingsResult, EmbedResult, ImportVectorsResult
    from eds.project.exchange import ExportResult, ImportResult
    from eds.project.experts import Experts
    from eds.project.export_run import ExportRunResult
    from eds.project.guidelines import Guidelines
    from eds.project.hash_benchmark import HashBenchmarkOptions, HashBenchmarkResult
    from eds.project.hub import PushResult
    from eds.project.image_map import MapResult
    from eds.project.image_pairs import ImagePairsResult
    from eds.project.labels import Labels
    from eds.project.leaderboard import LeaderboardResult
    from eds.project.mine import MineResult, NeighborsResult
    from eds.project.models import ModelsResult, ProjectModel
    from eds.project.near_duplicates import DuplicatesDecided, NearDuplicatesResult
    from eds.project.neighbor_strips import NeighborStrips
    from eds.project.pair_origin import PairOriginResult
    from eds.project.pool import GrowthResult, PoolResult, SuspectsResult
    from eds.project.promise import PromiseResult
    from eds.project.rehearsal import Plan
    from eds.project.report import ReportResult
    from eds.project.run import RunResult
    from eds.project.runs import RunsResult
    from eds.project.score import ScoreResult
    from eds.project.search import SearchResult
    from eds.project.simulate import DrawnCatalogue, SimulatedJudging
    from eds.project.splits import SplitOptions, SplitResult
    from eds.project.standing import StandingResult
    from eds.project.status import StatusResult
    from eds.project.train import FinetuneOptions, HashOptions
    from eds.project.training_results import FinetuneResult, HashResult
    from eds.project.undo import JournalResult, UndoResult
    from eds.project.webhooks import Webhooks
    from eds.synthetic.experts import Expert

__all__ = ["Project", "State"]


class Project(ProjectFiles):
    """A project on disk and everything that is done with it."""

    def __repr__(self) -> str:
        return f"Project({str(self.root)!r})"

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    @classmethod
    def create(
        cls, root: str | Path, values: Mapping[str, Any] | None = None, *, reporter: Reporter = SILENT
    ) -> "Project":
        """Make a new project in the folder `root`; an existing project is refused and left as it is."""
        root = Path(root)
        cls.refuse_existing(root)
        write_text(root / config.FILE, config.template(root.resolve().name, values))
        return cls.open(root, reporter=reporter)

    @classmethod
    def refuse_existing(cls, root: Path) -> None:
        """Raise ProjectError if there is a project in the folder."""
        if (root / config.FILE).exists():
            raise ProjectError("there is a project already", where=str(root), hint="Go on with eds status.")

    @classmethod
    def open(cls, root: str | Path, *, reporter: Reporter = SILENT) -> "Project":
        """Open the project in the folder `root`, and undo what an interrupted import left."""
        from eds.project.transaction import recover

        root = Path(root)
        if not (root / config.FILE).is_file():
            raise ProjectError(
                f"no project here: {config.FILE} is missing",
                where=str(root),
                hint="Run eds init, or name it: --project DIR.",
            )
        project = cls(root, config.load(root / config.FILE), reporter)
        storage.checked(project.config.images.root)  # an address with a secret in it goes no further than here
        if message := recover(project):
            project.say(message)
        return project

    def acting_as(self, actor: str, *, accounts_only: bool = False) -> "Project":
        """Return the same project for another actor, whom the audit log of the label store then names.

        With `accounts_only` the store changes nothing unless the actor has an account with the right to it.
        """
        project = copy.copy(self)
        project.actor = actor
        if accounts_only and self.store is not None:
            project.store = self.store.for_accounts()
        return project

    def read(self, table: str, model: str | None = None, *, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """Read a table of the project, or some of its columns; labels come from the label store, every act a row."""
        if table != "labels":
            return super().read(table, model, columns=columns)
        with explain_missing_package(), opened(self) as store:
            from eds.labels.frames import labels_frame

            labels = labels_frame(store)
        return labels if columns is None else labels[list(columns)]

    def states(self) -> list[State]:
        """The condition of every table, in the order of the flow; vectors are held against their digests."""
        from eds.project.status import with_missing_files

        return [with_missing_files(self, state) for state in super().states()]

    def status(self) -> "StatusResult":
        """The condition of every table: absent, fresh, stale (and why), damaged or unreadable."""
        from eds.project.status import read_status

        return read_status(self)

    def run(self, *, until: str | None = None, dry_run: bool = False) -> "RunResult":
        """Make every table that is missing or stale, in the order of the flow, then scores and the report.

        What is fresh stays as it is. `until` names the last table to make. With `dry_run` nothing is made: the result
        says what would be, and where the lists are there the price of the pool.
        """
        from eds.project.run import run

        return run(self.rehearsal(dry_run), until=until)

    def plan(self, verb: "Callable[[Project], object]") -> "Plan":
        """Say what a verb would make, replace, change and delete, and write nothing.

        `verb` gets a project in which every verb can be tried: `project.plan(lambda one: one.scan("photos"))`.
        """
        from eds.project.rehearsal import plan

        return plan(self, verb)

    def scan(
        self,
        folder: str | Path | None = None,
        *,
        layout: str | None = None,
        options: "ScanOptions | None" = None,
        replace: bool = False,
    ) -> "CatalogueResult":
        """Scan a folder of images, or s3://bucket/prefix, into the table images. A second scan reads what changed.

        Another folder than the image root of eds.toml becomes the image root. `layout` says what subfolders mean (auto,
        tree, category, product, flat); None: as in the last scan, as are queries and duplicates. `replace` allows to
        replace an imported table.
        """
        from eds.project.catalogue import ScanOptions, scan_images

        root = None if folder is None else storage.checked(folder)
        return scan_images(self, root, layout=layout, options=options or ScanOptions(), replace=replace)

    def import_images(
        self,
        *files: str | Path,
        format_name: str = "auto",
        columns: Mapping[str, str] | None = None,
        root: str | Path | None = None,
        gallery_phases: Sequence[str] = (),
        wild_phases: Sequence[str] = (),
        read_files: bool = True,
        options: "ScanOptions | None" = None,
        replace: bool = False,
    ) -> "CatalogueResult":
        """Import lists of images (CSV, Parquet, JSON, VSD, DeepFashion, Hugging Face) into the table images.

        `columns` maps columns of the table to those of the files; in several lists an image without a phase has its
        file's name as phase. `root` is the image root, if it is not the one of
        eds.toml; phases are VSD's. Without `read_files` the images are not read: size and sha256 stay empty.
        """
        from eds.project.catalogue import ScanOptions, import_images

        return import_images(
            self,
            [Path(file) for file in files],
            format_name=format_name,
            columns=columns,
            root=None if root is None else storage.checked(root),
            gallery_phases=gallery_phases,
            wild_phases=wild_phases,
            read_files=read_files,
            options=options or ScanOptions(),
            replace=replace,
        )

    def check_images(self, *, check: "FileCheck" = "full", workers: int = 0) -> "CheckResult":
        """Compare the table images with the files: missing, damaged, changed and duplicate ones."""
        from eds.project.catalogue import check_images

        return check_images(self, check=check, workers=workers)

    def near_duplicates(self, *, open_only: bool = False) -> "NearDuplicatesResult":
        """List the near duplicates that were found, with what was decided; `open_only`: those undecided."""
        from eds.project.near_duplicates import near_duplicates

        return near_duplicates(self, open_only=open_only)

    def find_near_duplicates(self, *, near: int = 4, dry_run: bool = False) -> "NearDuplicatesResult":
        """Search near duplicates in a catalogue that no scan has read, such as a drawn one; the table images stays.

        `near` is the largest number of bits by which their hashes differ.
        """
        from eds.project.near_duplicates import find_near_duplicates

        return find_near_duplicates(self.rehearsal(dry_run), near)

    def decide_duplicates(
        self, pairs: Sequence[tuple[str, str]], decision: "DuplicateDecision", *, dry_run: bool = False
    ) -> "DuplicatesDecided":
        """Decide pairs of near duplicates: `keep` both, `merge` their products, or `drop` the second image.

        The table images changes at once, and every later scan and import obeys. The decision is recorded in
        duplicates.csv; `undo` takes it back.
        """
        from eds.project.near_duplicates import decide_duplicates

        return decide_duplicates(self.rehearsal(dry_run), pairs, decision)

    def contact_sheet(
        self,
        to: str | Path | None = None,
        *,
        by: str = "category",
        count: int = 60,
        columns: int = 6,
        caption: str = "image_id",
        seed: int | None = None,
    ) -> storage.Address:
        """Write a contact sheet of the catalogue, an image or an HTML page (default: sheet.png); where it is.

        An image that would be too tall is written as several: sheet.png, sheet-2.png, ...
        """
        from eds.project.catalogue import write_sheet

        address = None if to is None else storage.checked(to)
        return write_sheet(self, address, by=by, count=count, columns=columns, caption=caption, seed=seed)

    def draw_catalogue(self, **options: Any) -> "DrawnCatalogue":
        """Draw a catalogue with known truth into this project; see `eds.project.simulate.draw_catalogue`."""
        from eds.project.simulate import draw_catalogue

        return draw_catalogue(self, **options)

    def embed(
        self,
        models: str | Sequence[str] = (),
        *,
        device: "Device | None" = None,
        batch: int | None = None,
        workers: int | None = None,
        dtype: "StoredType | None" = None,
        runtime: "Runtime" = "auto",
        precision: "Precision" = "float32",
        random_init: bool = False,
        on_bad: "OnBad | None" = None,
        role: "GivenRole | None" = None,
        replace: bool = False,
    ) -> "EmbedResult":
        """Compute the missing vectors, of new and changed images, by `models` or by all models of the project.

        A model is "loader:name[@weights]", "name=loader:name[@weights]", a preset of the paper, or a model of the
        project by its name. What is None is as eds.toml says. Vectors that were computed otherwise are refused unless
        `replace`. A new model is recorded as a generator, or where there are labels already as evaluated, unless
        `role` says which.
        """
        from eds.project.embed import EmbedOptions, embed

        options = EmbedOptions(device, batch, workers, dtype, runtime, precision, random_init, on_bad)
        return embed(self, _as_list(models), options, role=role, replace=replace)

    def import_vectors(
        self,
        name: str,
        vectors: "Address | str",
        ids: "Address | str | None" = None,
        *,
        similarity: "Similarity | None" = None,
        dtype: "StoredType | None" = None,
        bits: int | None = None,
        part: str = "",
        partial: bool = False,
        role: "GivenRole | None" = None,
        replace: bool = False,
    ) -> "ImportVectorsResult":
        """Import vectors (.npy, .npz, .parquet, .safetensors) with their image ids, or another project's folder.

        `similarity` is cosine, or that of the folder, unless given; `bits` is the length of packed codes; `part` names
        the array or column of a file with several. Images without a vector are refused unless `partial`. `role` is as
        in `embed`.
        """
        from eds.project.embed import import_vectors

        return import_vectors(
            self,
            name,
            vectors,
            ids,
            similarity=similarity,
            dtype=dtype,
            bits=bits,
            part=part,
            partial=partial,
            role=role,
            replace=replace,
        )

    def list_models(self) -> "ModelsResult":
        """List the models with their role: a generator's lists make the pool, an evaluated model is only compared."""
        from eds.project.models import list_models

        return list_models(self)

    def add_model(self, model: str, *, role: "GivenRole | None" = None) -> "ProjectModel":
        """Record a model as NAME=SPEC in eds.toml, for `run` to embed; or give a known model another role."""
        from eds.project.models import add_model

        return add_model(self, model, role=role)

    def remove_model(self, model: str, *, dry_run: bool = False) -> "ModelsResult":
        """Delete a model's vectors, lists and scores; eds.toml records it as removed, pairs and labels stay."""
        from eds.project.models import remove_model

        return remove_model(self.rehearsal(dry_run), model)

    def rename_model(self, model: str, name: str) -> "ModelsResult":
        """Give a model another name, in its vectors, lists, suspects and scores; what is up to date stays so."""
        from eds.project.rename_model import rename_model

        return rename_model(self, model, name)

    def embeddings(self) -> "EmbeddingsResult":
        """Read the state of every model's vectors."""
        from eds.project.embed import embeddings

        return embeddings(self)

    def check_vectors(self) -> "CheckVectorsResult":
        """Compare every model's vectors with their digests and with the catalogue."""
        from eds.project.embed import check_vectors

        return check_vectors(self)

    def split(self, options: "SplitOptions | None" = None, *, replace: bool = False) -> "SplitResult":
        """Make table splits: which images are for training, validation, as test queries, as database.

        Every training obeys it, and is stored with it. `replace` draws another where there is one.
        """
        from eds.project.splits import SplitOptions, make_split

        return make_split(self, options or SplitOptions(), replace=replace)

    def training_runs(self) -> "RunsResult":
        """Every run of training: running, finished or interrupted, and its score."""
        from eds.project.runs import list_runs

        return list_runs(self)

    def export_run(self, name: str, file: "str | Path | None" = None, *, replace: bool = False) -> "ExportRunResult":
        """Write the trained model of a run, with the network under a hash head, to one file.

        The file is NAME.safetensors unless given. The result's `spec` names it as a backbone, for `embed` anywhere.
        """
        from eds.project.export_run import export_run

        return export_run(self, name, Path(file) if file else None, replace=replace)

    def train_hash(self, name: str, options: "HashOptions | None" = None, *, replace: bool = False) -> "HashResult":
        """Fit a hash head to a model's vectors and write the codes as model `name`. An interrupted run resumes.

        `replace` starts again and replaces other vectors of that name.
        """
        from eds.project.train import HashOptions, train_hash

        return train_hash(self, name, options or HashOptions(), replace=replace)

    def benchmark_hashing(
        self, options: "HashBenchmarkOptions | None" = None, *, out: str | Path | None = None
    ) -> "HashBenchmarkResult":
        """Compare hash functions on a dataset or the catalogue: methods by code length and seed, with a page.

        Every finished run is kept below hashing/NAME, and a second call computes what is missing. The page (default:
        hashing/NAME/benchmark.html) has the table, its pictures and retrieved images; its numbers lie beside it.
        """
        from eds.project.hash_benchmark import HashBenchmarkOptions, benchmark_hashing

        return benchmark_hashing(self, options or HashBenchmarkOptions(), Path(out) if out else None)

    def finetune(
        self, name: str, base: str, options: "FinetuneOptions | None" = None, *, replace: bool = False
    ) -> "FinetuneResult":
        """Fine-tune the backbone `base` on the catalogue's images. An interrupted run resumes.

        The result's `spec` names the trained network as a backbone, for `embed`.
        """
        from eds.project.train import FinetuneOptions, finetune

        return finetune(self, name, base, options or FinetuneOptions(), replace=replace)

    def mine(
        self,
        models: str | Sequence[str] = (),
        *,
        k: int | None = None,
        search: str | None = None,
        exclude_product: bool | None = None,
        one_per_product: bool | None = None,
        category: "CategoryRule | None" = None,
        keep_ties: bool | None = None,
        metric: "Similarity | None" = None,
        effort: float | None = None,
        allow_low_recall: bool = False,
        allow_missing: bool = False,
        threads: int | None = None,
        force: bool = False,
    ) -> "MineResult":
        """Search the k nearest candidates of every query, by every model with vectors or by `models`.

        What is None is as eds.toml says; `metric` is the model's own, and `keep_ties` true for binary codes. Images
        that some model has no vector of are refused, or left out with `allow_missing`. Lists that are up to date are
        kept unless `force`.
        """
        from eds.project.mine import MineOptions, mine

        options = MineOptions(
            k, search, exclude_product, one_per_product, category, keep_ties, metric, effort, allow_low_recall
        )
        return mine(self, _as_list(models), options, allow_missing=allow_missing, threads=threads, force=force)

    def neighbors(self) -> "NeighborsResult":
        """Read the state of every model's lists."""
        from eds.project.mine import neighbors

        return neighbors(self)

    def show_neighbors(
        self,
        queries: str | Sequence[str] = (),
        *,
        models: str | Sequence[str] = (),
        k: int = 10,
        count: int = 6,
        out: str | Path | None = None,
    ) -> "NeighborStrips":
        """Show each model's first k candidates of some queries as pictures, and write them to the page `out`.

        `queries` are image ids; without any, `count` are drawn. What the labels say of a pair is marked.
        """
        from eds.project.neighbor_strips import show_neighbors

        page = Path(out) if out else None
        return show_neighbors(self, _as_list(queries), models=_as_list(models), k=k, count=count, out=page)

    def search(
        self,
        image: str | None = None,
        *,
        file: str | Path | None = None,
        text: str | None = None,
        models: str | Sequence[str] = (),
        k: int = 10,
    ) -> "SearchResult":
        """Search the catalogue by an image of it, a picture file or a text: each model's k nearest images.

        The rules of lists are those of eds.toml; they exclude nothing of a query that is not in the catalogue. Models
        that cannot answer (a text needs a model with a text side) are left out and said, or refused if named.
        """
        from eds.project.search import search

        return search(self, image, file=None if file is None else Path(file), text=text, models=_as_list(models), k=k)

    def find_images(self, words: str = "", *, count: int = 12) -> "pd.DataFrame":
        """Find images whose id, product or category holds the words; without words a sample of the catalogue."""
        from eds.project.search import find_images

        return find_images(self, words, count=count)

    def map_images(
        self,
        model: str | None = None,
        *,
        method: "MapMethod" = "pca",
        clusters: int = 0,
        out: str | Path | None = None,
    ) -> "MapResult":
        """Lay the images of a model (by default the first) out on a plane, by PCA or UMAP.

        With `clusters` each image has the number of its group of k-means. The result says what was judged of each
        image; `out` is a file for the table (CSV or Parquet). Coordinates are kept until the vectors change.
        """
        from eds.project.image_map import map_images

        return map_images(self, model, method=method, clusters=clusters, out=Path(out) if out else None)

    def prepare_maps(self) -> int:
        """Compute the coordinates by PCA that are not there yet; return how many models had none."""
        from eds.project.image_map import prepare_maps

        return prepare_maps(self)

    def pair_origin(self, query: str, candidate: str) -> "PairOriginResult":
        """Say who proposed a pair: its rank in each model's list, whether it is a suspect, and what was judged."""
        from eds.project.pair_origin import pair_origin

        return pair_origin(self, query, candidate)

    def pool(
        self,
        models: str | Sequence[str] = (),
        *,
        k: int | None = None,
        order: str | None = None,
        batch: int | None = None,
        symmetric: str = "keep",
        keep_ties: bool | None = None,
        dry_run: bool = False,
    ) -> "PoolResult":
        """Make or grow the pool: every pair among the first k candidates of some model's list, each once.

        Pairs that were chosen before keep their batch and position; new pairs are added behind them. `models` are
        those with lists, `k`, `order` (random, fusion, bandit, learned, contrast) and the size of a `batch` those of
        eds.toml unless given. `symmetric` "merge" keeps one of (q, c) and (c, q). `keep_ties` takes all candidates that
        tie with the k-th (None: for models of binary codes).

        This and every verb that adds pairs: `price` of the result is what judging the new ones costs; with `dry_run`
        nothing is written.
        """
        from eds.project.pool import pool

        return pool(
            self.rehearsal(dry_run),
            _as_list(models),
            k=k,
            order=order,
            batch=batch,
            symmetric=symmetric,
            keep_ties=keep_ties,
        )

    def pool_growth(self, models: str | Sequence[str] = (), *, k_max: int | None = None) -> "GrowthResult":
        """Compute the pool's size at k = 1, 2, ... k_max and, if there are labels, the positives at each rank."""
        from eds.project.pool import pool_growth

        return pool_growth(self, _as_list(models), k_max=k_max)

    def journal(self) -> "JournalResult":
        """List what can be undone: pools, draws, campaigns and imports of votes, oldest first."""
        from eds.project.undo import read_journal

        return read_journal(self)

    def undo(self, entry: str | None = None, *, dry_run: bool = False) -> "UndoResult":
        """Undo an entry of the journal, by default the last one: what nobody has judged is taken back.

        Nothing that was judged is deleted: votes and labels stay, and count no more as the pool or as a random draw.
        Pairs that some of their panel have judged are asked on. Votes of an import are kept, and count no more.
        """
        from eds.project.undo import undo

        return undo(self.rehearsal(dry_run), entry)

    def suspects(self) -> "SuspectsResult":
        """Count the suspects' pairs and batches by origin and stratum."""
        from eds.project.pool import suspects

        return suspects(self)

    def draw_random(
        self,
        n: int,
        *,
        stratum: str = "all",
        min_rank: int | None = None,
        max_rank: int = 100,
        universe: "UniverseChoice | None" = None,
        add: bool = False,
        dry_run: bool = False,
    ) -> "RandomResult":
        """Draw n uniform random pairs of the project's universe, each with its probability, as one batch behind others.

        Strata: "all" pairs; "outside" the pool; "near" it: at ranks min_rank (default: k of the pool) to max_rank - 1
        of some model's list, without the pool; "rest": outside and not near. `universe` "rules" are the pairs that the
        lists may hold (with one image of each product: pairs of a query and a product, shown by a random image), "all"
        the paper's: all pairs of images; None: as eds.toml says. The same draw again adds no pairs, unless `add`.
        """
        from eds.project.draw import draw_random

        return draw_random(
            self.rehearsal(dry_run),
            n,
            stratum=stratum,
            min_rank=min_rank,
            max_rank=max_rank,
            universe=universe,
            add=add,
        )

    def draw(self, n: int, *, design: "DrawDesign | None" = None, dry_run: bool = False) -> "DesignResult":
        """Draw n further random pairs by a design, each with its probability, as one batch behind others.

        "uniform": all pairs alike; "strata": pairs that some model lists behind the pool, and the rest, spread so that
        the estimate of the positives is most certain; "weighted": outside the pool, more where further
        labels are most informative, a fifth of them uniform. None: weighted from 200 decided labels on, before uniform,
        or the strata that were drawn before. Weighted draws may follow uniform ones; all count in one estimate.
        """
        from eds.project.draw_design import draw

        return draw(self.rehearsal(dry_run), n, design=design)

    def promise_recall(self, share: float = 0.9, *, confidence: float = 0.95) -> "PromiseResult":
        """How deep the pool must be judged to hold `share` of all similar pairs of the universe, and what that costs.

        By the random draws that are labelled: the depth that comes back holds so many with this confidence, however
        the models rank. Draws of every design count. The confidence is that of one look.
        """
        from eds.project.promise import promise_recall

        return promise_recall(self, share, confidence=confidence)

    def standing(self, *, confidence: float = 0.95) -> "StandingResult":
        """Where the work stands: p, p_k, positives, recall, each model's P@k and AUC, with intervals.

        Beside them limits that hold at every look, how narrow the intervals become with more draws and their hours,
        and the pairs that tell every two models apart with 80 % power. It reads only.
        """
        from eds.project.standing import standing

        return standing(self, confidence=confidence)

    def draw_negatives(
        self,
        n: int = 5,
        *,
        min_rank: int | None = None,
        max_rank: int | None = None,
        keep_top: bool = False,
        dry_run: bool = False,
    ) -> "NegativesResult":
        """Sample n pairs of every query at ranks min_rank to max_rank - 1; earlier negatives are replaced.

        By default these are ranks 100 to 499, or where lists are shorter their lower half. Candidates that some model
        ranks before min_rank are left out unless `keep_top`.
        """
        from eds.project.draw import draw_negatives

        return draw_negatives(self.rehearsal(dry_run), n, min_rank=min_rank, max_rank=max_rank, keep_top=keep_top)

    def draw_gold(self, file: str | Path, n: int, *, dry_run: bool = False) -> "DrawResult":
        """Mix in n pairs with known labels from a file (CSV or Parquet: query_id, candidate_id, value)."""
        from eds.project.draw import draw_gold

        return draw_gold(self.rehearsal(dry_run), file, n)

    def draw_repeats(self, n: int, *, dry_run: bool = False) -> "DrawResult":
        """Choose n pairs, uniformly, that are judged a second time, later."""
        from eds.project.draw import draw_repeats

        return draw_repeats(self.rehearsal(dry_run), n)

    def add_pairs(self, pairs: "str | Path | pd.DataFrame", *, dry_run: bool = False) -> "DrawResult":
        """Add pairs (CSV, Parquet or a frame: query_id, candidate_id) that are not among the suspects yet."""
        from eds.project.draw import add_pairs

        return add_pairs(self.rehearsal(dry_run), pairs)

    def add_image_pairs(
        self, images: Sequence[str], *, partners: "ImagePartners" = "lists", k: int | None = None, dry_run: bool = False
    ) -> "ImagePairsResult":
        """Add the pairs of chosen images: each query among them with the first k candidates of the generators' lists.

        With `partners` "each-other": with every other chosen image that the rules allow. k is the pool's unless given.
        """
        from eds.project.image_pairs import add_image_pairs

        return add_image_pairs(self.rehearsal(dry_run), images, partners=partners, k=k)

    def add_model_pairs(
        self, model: str, *, k: int | None = None, n: int | None = None, dry_run: bool = False
    ) -> "ModelPairsResult":
        """Add the pairs whose judgement decides where a new model ranks: its first k, unless judged.

        The first ranks come first; at most n pairs are added. k is the pool's unless given.
        """
        from eds.project.draw import add_model_pairs

        return add_model_pairs(self.rehearsal(dry_run), model, k=k, n=n)

    def reorder(self, *, order: str | None = None, batch: int | None = None, dry_run: bool = False) -> "DrawResult":
        """Deal the pool's pairs without a decided label into new batches.

        Orders: "random"; "fusion": high in many lists first; "bandit": of the models that were right most often; and by
        the relevance model "learned": likely similar first, for curation, "contrast": what tells models apart first.
        The last three learn from the decided labels. All keep every pair's inclusion probability.
        """
        from eds.project.draw import reorder

        return reorder(self.rehearsal(dry_run), order=order, batch=batch)

    @property
    def campaigns(self) -> "Campaigns":
        """The campaigns in which experts judge."""
        with explain_missing_package():
            from eds.project.campaigns import Campaigns
        return Campaigns(self)

    @property
    def experts(self) -> "Experts":
        """The accounts of those who judge."""
        with explain_missing_package():
            from eds.project.experts import Experts
        return Experts(self)

    @property
    def guidelines(self) -> "Guidelines":
        """The versions of the guideline."""
        with explain_missing_package():
            from eds.project.guidelines import Guidelines
        return Guidelines(self)

    @property
    def calibration(self) -> "Calibration":
        """Calibration: experts practise on known pairs before a campaign."""
        with explain_missing_package():
            from eds.project.calibration import Calibration
        return Calibration(self)

    @property
    def labels(self) -> "Labels":
        """The judgements: tasks, answers, flags, adjudication, known pairs, import, export, backup."""
        with explain_missing_package():
            from eds.project.labels import Labels
        return Labels(self)

    @property
    def webhooks(self) -> "Webhooks":
        """Webhooks: judgements and finished campaigns, sent to other programs as they happen."""
        with explain_missing_package():
            from eds.project.webhooks import Webhooks
        return Webhooks(self)

    @property
    def assistants(self) -> "Assistants":
        """Second judges that never vote: their answers, how far they agree, and what they save."""
        from eds.project.assistants import Assistants

        return Assistants(self)

    def simulate_experts(
        self,
        *,
        count: int | None = None,
        seed: int | None = None,
        panel: "Sequence[Expert]" = (),
        campaign: str = "simulated",
        experts_per_pair: int | None = None,
        out: str | Path | None = None,
    ) -> "SimulatedJudging":
        """Let simulated experts judge every suspect of a drawn catalogue, in a campaign or into the file `out`.

        `panel` are experts of `eds.synthetic.experts`, by default `count` of them drawn by `seed`. A new campaign asks
        `experts_per_pair` of them each pair, by default all.
        """
        from eds.project.simulate import simulate

        file = Path(out) if out else None
        return simulate(
            self,
            count=count,
            seed=seed,
            panel=panel,
            campaign=campaign,
            experts_per_pair=experts_per_pair,
            out=file,
        )

    def decide(
        self,
        *,
        rule: str | None = None,
        panel: int | None = None,
        as_of: "str | datetime | None" = None,
        campaign: str | None = None,
        adjudication: bool = True,
        replace: bool = False,
    ) -> "DecideResult":
        """Decide every pair from its votes and write the table truth.

        A pair's voters are the panels of the campaigns that are complete for it; `campaign` takes one campaign alone.
        Leads' decisions replace votes unless `adjudication` is off; `as_of` restricts the acts; `panel` is the number
        of experts assigned to a pair, by default the campaigns'. Without `replace` a truth that another rule made is
        kept, and the result says what differs; a decision by which a pair would lose its label, or more than 1 % of
        the labels would change, is a TruthChangeError that says how many, which way and why.
        """
        from eds.project.decide import decide

        return decide(
            self, rule=rule, panel=panel, as_of=as_of, campaign=campaign, adjudication=adjudication, replace=replace
        )

    def agreement(
        self,
        *,
        campaign: str | None = None,
        as_of: "str | datetime | None" = None,
        control: str | Path | None = None,
        gold: str | Path | None = None,
        resamples: int = 2000,
        confidence: float = 0.95,
    ) -> "AgreementResult":
        """Measure how far the experts agree: coefficients, each pair of experts, each expert, disputed pairs.

        `control` (pairs that everybody judged) and `gold` (known answers) are files, by default from the label store.
        """
        from eds.project.agreement import measure_agreement

        return measure_agreement(
            self,
            campaign=campaign,
            as_of=as_of,
            control=control,
            gold=gold,
            resamples=resamples,
            confidence=confidence,
        )

    def score(
        self,
        measures: "str | Measure | Iterable[str | Measure]" = (),
        *,
        models: Sequence[str] = (),
        new: Mapping[str, str | Path] | None = None,
        ids: Mapping[str, str | Path] | None = None,
        pool_models: Sequence[str] = (),
        source: str = "auto",
        by_query: bool = False,
        resamples: int = 2000,
        confidence: float = 0.95,
        with_random: bool = False,
        allow_missing: bool = False,
        attributes: Sequence[str] = (),
    ) -> "ScoreResult":
        """Score models by measures, with confidence intervals, and write table scores.

        `measures` are presets (vsd, trec, mteb, hash, hash-category) and measures as text or `Measure`; without any
        those of vsd are scored (of trec and AUC, where the project's lists are not as vsd needs them), and the result
        shows the first. `models` default to all that have vectors or lists. `new` adds models first: a backbone, a file
        of vectors or a TREC run by name, whose image ids are in the files `ids`. `pool_models` made the pool; by
        default those that the suspects name. `source` is where ranks come from: embeddings, neighbors, or auto (vectors
        where a model has any). `by_query` stores the value of every query, too; `resamples` is the number behind each
        interval (0: none). `with_random` measures on the labels of random pairs, too; `allow_missing` leaves out images
        without a vector; `attributes` are columns of images that grade pairs for measures with grades=attributes.

        `comparison` of the result knows which models built the pool: every two models, the best, groups, and what the
        labels cannot say; `fairness` says which measures are fair to models that came later.
        """
        from eds.project import score

        return score.score(
            self,
            measures,
            models=models,
            new=new,
            ids=ids,
            pool_models=pool_models,
            source=source,
            by_query=by_query,
            resamples=resamples,
            confidence=confidence,
            with_random=with_random,
            allow_missing=allow_missing,
            attributes=attributes,
        )

    def analyse(self, name: str, **options: Any) -> "AnalysisResult":
        """Run an analysis (eds.registry.ANALYSES: bias, prevalence, ...) and store the result in analysis/NAME.json.

        Options are those that the analysis declares and those that say what it is about: `pool_models` made the pool,
        `other_models` are compared with them, `models` are the only ones, `pool_depth` is the depth of a named pool
        model's lists; `with_random` and `allow_missing` as in `score`.
        """
        from eds.project import analyse

        return analyse.analyse(self, name, **options)

    def budget(self, options: "BudgetOptions | None" = None) -> "BudgetResult":
        """Plan judgements, machines, time and money, from the project's counts where the options name none."""
        from eds.project import budget

        return budget.plan_budget(self, options or budget.BudgetOptions())

    def report(
        self,
        to: str | Path | None = None,
        *,
        slices: Sequence[str] = ("category",),
        gallery: int = 3,
        pictures: bool = True,
        resamples: int = 2000,
        confidence: float = 0.95,
        pool_models: Sequence[str] = (),
        with_random: bool = False,
        allow_missing: bool = False,
        keep: bool = False,
    ) -> "ReportResult":
        """Write the report: an HTML page (default: report.html), and its numbers as JSON and CSV beside it.

        Table scores is made first if it is missing or stale, and the report shows its numbers. `slices` are columns of
        images to split results by, `gallery` is the number of pairs in each gallery; without `pictures` it shows names.
        An earlier report of that name is replaced; with `keep` it stays beside the new one, the time in its name. The
        other options are those of `score`.
        """
        from eds.project import report

        return report.report(
            self,
            to,
            slices=slices,
            gallery=gallery,
            pictures=pictures,
            resamples=resamples,
            confidence=confidence,
            pool_models=pool_models,
            with_random=with_random,
            allow_missing=allow_missing,
            keep=keep,
        )

    def leaderboard(
        self,
        to: str | Path | None = None,
        *,
        measures: "str | Measure | Iterable[str | Measure]" = (),
        models: Sequence[str] = (),
        fail_below: Sequence[str] = (),
        compare: str | Path | None = None,
        resamples: int = 2000,
        confidence: float = 0.95,
    ) -> "LeaderboardResult":
        """Write a static leaderboard (default: leaderboard.html), and Markdown and JSON beside it.

        Models have intervals and significance groups; further rows are the experts, each against the majority of the
        others, and chance. `fail_below` ("[MODEL:]MEASURE=VALUE") and `compare` (an earlier leaderboard.json) fill the
        result's `failures`; `raise_failures()` raises them.
        """
        from eds.project import leaderboard

        return leaderboard.leaderboard(
            self,
            to,
            measures=measures,
            models=models,
            fail_below=fail_below,
            compare=compare,
            resamples=resamples,
            confidence=confidence,
        )

    def export(
        self,
        format_name: str,
        to: str | Path,
        *,
        card: "CardText | None" = None,
        lists: bool = True,
        hide_experts: bool = False,
        with_random: bool = False,
        replace: bool = False,
        **options: Any,
    ) -> "ExportResult":
        """Write the benchmark in a format to a folder or address, with a card and checksums: complete or not at all.

        `card` is the curator's text, `lists` includes the models' lists, `hide_experts` replaces their names by
        numbers, `with_random` includes labels of random pairs in formats that cannot mark them, `replace` allows to
        replace an earlier export. `options` are the format's own (`eds benchmarks export FORMAT --help`).
        """
        from eds.project import exchange

        return exchange.export(
            self,
            format_name,
            to,
            card=card,
            lists=lists,
            hide_experts=hide_experts,
            with_random=with_random,
            replace=replace,
            **options,
        )

    def import_benchmark(
        self,
        format_name: str,
        source: str | Path | None = None,
        *,
        campaign: str | None = None,
        separate: bool = False,
        replace: bool = False,
        **options: Any,
    ) -> "ImportResult":
        """Import a benchmark's tables, votes and pictures: all of them or none, also after a kill.

        `campaign` gets all votes (default: as the file says). `separate` gives products of queries that are not
        candidates ids of their own. `replace` allows to replace tables that were not imported. `options` are the
        format's own (`eds benchmarks import FORMAT --help`).
        """
        from eds.project import exchange

        return exchange.import_benchmark(
            self, format_name, source, campaign=campaign, separate=separate, replace=replace, **options
        )

    def push(
        self,
        repository: str,
        *,
        token_env: str,
        public: bool = False,
        endpoint: str | None = None,
        card: "CardText | None" = None,
        **options: Any,
    ) -> "PushResult":
        """Put the benchmark on the hub as a data set in MTEB's layout, private unless `public`; one commit.

        `token_env` names the environment variable that holds a token with the right to write; no other is used.
        `options` are those of `export` and of its format hf, as `hide_experts` and `no_images`.
        """
        from eds.project import hub

        return hub.push(self, repository, token_env=token_env, public=public, endpoint=endpoint, card=card, **options)

    def pull(
        self,
        repository: str,
        *,
        revision: str | None = None,
        token_env: str | None = None,
        endpoint: str | None = None,
        separate: bool = False,
        replace: bool = False,
    ) -> "ImportResult":
        """Download a data set from the hub and import it as a benchmark: all of it or nothing.

        `token_env` names the variable with a token, for a private one; `separate` and `replace` as in
        `import_benchmark`.
        """
        from eds.project import hub

        return hub.pull(
            self,
            repository,
            revision=revision,
            token_env=token_env,
            endpoint=endpoint,
            separate=separate,
            replace=replace,
        )


def _as_list(names: str | Sequence[str]) -> list[str]:
    """The names; a single one may be given without a list."""
    return [names] if isinstance(names, str) else list(names)
