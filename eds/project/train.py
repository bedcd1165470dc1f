"""Models made from this catalogue: hash heads fitted to vectors, networks fine-tuned on images."""

import dataclasses
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from eds.errors import InputError, LockedError, ProjectError
from eds.io.files import digest
from eds.project.models import find_model, record, trained_on
from eds.project.runs import begin_record, finish_record, run_folder, running
from eds.project.splits import with_split
from eds.project.training_presets import PRESETS
from eds.project.training_results import FinetuneResult, HashResult
from eds.registry import BASELINES
from eds.tables import Operation, Provenance

if TYPE_CHECKING:
    from eds.project import Project
    from eds.training.dino import Dino
    from eds.training.hash_head import HashRun
    from eds.training.hash_objective import Design
    from eds.training.plan import Plan
    from eds.training.supervision import Supervision

OPERATION = "training.hash"
WAIT = 600  # seconds until codes are not written because another process holds the project
DINO = ("crops", "local_size", "prototypes", "momentum", "temperature", "temperature_epochs")  # of that objective only


@dataclass(frozen=True)
class TrainingOptions:
    """How long and how hard a model is trained; what every training shares. None: as the preset says, else `USUAL`."""

    USUAL: ClassVar[Mapping[str, Any]] = {
        "epochs": 50,
        "batch": 64,
        "learning_rate": 1e-3,
        "warm_up": 1.0,
        "weight_decay": 5e-5,
        "optimizer": "adam",
        "optimizer_momentum": 0.9,
        "schedule": "constant",
        "clip": 0.0,
    }

    epochs: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    warm_up: float | None = None  # epochs in which the learning rate rises
    weight_decay: float | None = None
    patience: int = 10  # epochs without a better validation score, after which training stops
    keep: str | None = None  # weights of the best epoch, or the last; None: what suits the objective
    validation_share: float = 0.1  # of the products
    test_share: float = 0.2  # of the products
    group: int = 4  # images of one product that share a batch
    seed: int | None = None  # None: the project's
    optimizer: str | None = None
    optimizer_momentum: float | None = None  # of sgd; of adam the decay of its first moment (0: no momentum)
    schedule: str | None = None
    clip: float | None = None  # largest norm of the gradient; 0: no limit
    log: str = "csv"  # or tensorboard: event files beside it
    preset: str | None = None  # hyperparameters of a publication, for all that is not given

    def plan(self, project: "Project", keep: str = "best") -> "Plan":
        """The checked numbers of a run."""
        from eds.training.plan import Plan

        if self.preset is not None and self.preset not in PRESETS:
            raise InputError(f"unknown preset {self.preset!r}", hint=f"Known: {', '.join(PRESETS)}.")
        values = {part.name: getattr(self, part.name) for part in fields(TrainingOptions) if part.name != "preset"}
        chosen = {**self.USUAL, **PRESETS.get(self.preset or "", {})}
        values |= {name: value for name, value in chosen.items() if values[name] is None}
        keep, values["momentum"] = values["keep"] or keep, values.pop("optimizer_momentum")
        seed = project.config.project.seed if self.seed is None else self.seed
        return Plan(**{**values, "keep": keep, "seed": seed})


@dataclass(frozen=True)
class HashOptions(TrainingOptions):
    """A hash head: which vectors it hashes, to what codes, by which objective."""

    base: str | None = None  # model whose vectors are hashed; None: the only one of floats
    bits: int = 32
    objective: str = "talr-ap"
    labels: str = "product"
    one_way_as_negative: bool = False  # pairs called similar in one direction only
    head: str = "linear"
    hidden: int = 256  # units, of an mlp
    scale: str = "1"  # of tanh; FROM:TO grows by epoch; hashnet 1:10
    margin: float | None = None  # of the DSH family
    alpha: float | None = None
    bins: int | None = None  # of TALR's histogram of distances; None: one for each distance
    network: str | None = None  # instead of a base: a backbone that is trained together with the head
    random_init: bool = False  # of the network; cnn:NAME always begins so
    frozen: int = 0  # of the network: tensors from the input on that stay unchanged
    crop: int = 0  # of the network: pixels by which images are moved at random
    device: str = "cpu"


@dataclass(frozen=True)
class FinetuneOptions(TrainingOptions):
    """A network: where it starts, what it learns from."""

    USUAL: ClassVar[Mapping[str, Any]] = {**TrainingOptions.USUAL, "learning_rate": 1e-4}

    objective: str = "cross-entropy"
    labels: str | None = None  # product (default), category or both; the objective dino uses none
    frozen: int = 0  # tensors from the input on that stay unchanged
    crop: int = 0  # pixels by which images are moved at random; not of dino, which has crops
    crops: int | None = None  # of dino: small crops of an image (4)
    local_size: int | None = None  # of dino: their side (3/7 of the image's)
    prototypes: int | None = None  # of dino: outputs of the head (4096)
    momentum: float | None = None  # of dino: the teacher's (0.996)
    temperature: str | None = None  # of dino: the teacher's, T or FROM:TO (0.04)
    temperature_epochs: int | None = None  # of dino: epochs from FROM to TO (0)
    random_init: bool = False
    device: str = "cpu"


def train_hash(project: "Project", name: str, options: HashOptions, *, replace: bool = False) -> HashResult:
    """Fit a hash head to a model's vectors and write the codes as model `name`; see `Project.train_hash`."""
    from eds.project.inputs import Inputs
    from eds.project.ranks_and_scores import open_vectors
    from eds.training.hash_head import fit_hash_head
    from eds.training.hash_model import backbone_text, describe_base, gather_inputs, write_codes
    from eds.training.splits import splits_frame
    from eds.training.supervision import supervise

    if options.network is not None:
        return _train_network(project, name, options, replace=replace)
    _refuse_network_options(options)
    base, labels = _base_model(project, options.base, name), options.labels
    design = _design(options)
    target = project.path("embeddings", name)
    with running(project, name, f"{options.objective} on the vectors of {base}, labels {labels}", codes=True) as folder:
        images = project.read("images")
        vectors, with_vector = open_vectors(project, [base], images, allow_missing=True)[base]
        truth = Inputs(project).decided_pairs() if labels == "truth" else None
        supervision = supervise(labels, with_vector, truth, one_way_as_negative=options.one_way_as_negative)
        supervision = with_split(project, supervision)
        plan = options.plan(project, _keep(supervision, options.objective))
        _refuse_shares(options, supervision)
        spec = _spec_of(options, plan.seed)
        if not replace:
            _refuse_other_model(target, spec)
        made_by = _codes_provenance(project, name, base, options, plan.seed)
        details = {"kind": "hash", "base": base, "base_sha256": vectors.model.weights_digest, **spec}
        details["epochs"] = 0 if options.objective in BASELINES else plan.epochs
        begin_record(folder, details)
        ids = list(supervision.ids)
        with project.progress("training", "epochs") as progress:
            fitted = fit_hash_head(
                gather_inputs(vectors, ids),
                supervision,
                design,
                plan,
                folder,
                describe_base(vectors),
                base_text=backbone_text(vectors),
                restart=replace,
                progress=progress,
            )
        if fitted.resumed_at:
            project.say(f"Resumed after epoch {fitted.resumed_at}.")
        test = fitted.test
        score = test.expected if test is not None and test.queries else None
        details |= {"weights_sha256": fitted.sha256, "measure": fitted.seen.measure, "score": score}
        finish_record(folder, details, splits_frame(fitted.parts, ids))
        made_by = dataclasses.replace(made_by, notes={"test_score": score})
        with publishing(project, OPERATION), project.progress("encoding", "codes") as progress:
            codes = write_codes(target, name, vectors, ids, fitted.head, fitted.sha256, spec, made_by, progress)
            record(project, name, trained=trained_on(project, name))
    return _hash_result(name, base, spec, fitted, plan, supervision, len(codes), len(images) - len(with_vector))


def _train_network(project: "Project", name: str, options: HashOptions, *, replace: bool) -> HashResult:
    """Train a network and its hash layer together, and compute the codes of all images as model `name`."""
    from eds.backbones import preset_text
    from eds.backbones.trainable import trainable
    from eds.project.embed import EmbedOptions, embed
    from eds.project.inputs import Inputs
    from eds.training.deep_hash import fit_deep_hash
    from eds.training.devices import devices_of
    from eds.training.pictures import PIXELS, prepare_images
    from eds.training.splits import splits_frame
    from eds.training.supervision import supervise

    if options.base is not None or options.objective in BASELINES:
        what = "a base model" if options.base is not None else f"objective {options.objective}, which trains nothing,"
        raise InputError(f"{what} and a network are named", hint="Leave out --network, or name another --objective.")
    devices_of(options.device)  # refused before any image is read
    text = preset_text(options.network or "")
    fresh = options.random_init or (text.startswith("cnn:") and "@" not in text)
    text += f"{'&' if '?' in text else '?'}random_init=true" if fresh else ""
    design, images, target = _design(options), project.read("images"), project.path("embeddings", name)
    with running(project, name, f"{options.objective} on {text}, labels {options.labels}", codes=True) as folder:
        truth = Inputs(project).decided_pairs() if options.labels == "truth" else None
        labels = supervise(options.labels, images, truth, one_way_as_negative=options.one_way_as_negative)
        labels = with_split(project, labels)
        plan = options.plan(project, _keep(labels, options.objective))
        _refuse_shares(options, labels)
        if not replace and target.exists() and not (folder / "run.json").exists():
            _refuse_other_model(target, {})
        network = trainable(text)
        spec = _spec_of(options, plan.seed)
        details = {"kind": "hash", "base": network.text, "base_sha256": network.weights_sha256, **spec}
        details["epochs"] = plan.epochs
        begin_record(folder, details)
        if replace:  # prepared again from the catalogue
            (folder / PIXELS).unlink(missing_ok=True)
        with project.progress("reading", "images") as progress:
            pixels = prepare_images(images, labels.ids, project.image_root, network.preprocessing, folder, progress)
        with project.progress("training", "epochs") as progress:
            fitted = fit_deep_hash(
                network,
                pixels,
                labels,
                design,
                plan,
                folder,
                frozen=options.frozen,
                crop=options.crop,
                device=options.device,
                restart=replace,
                progress=progress,
            )
        if fitted.resumed_at:
            project.say(f"Resumed after epoch {fitted.resumed_at}.")
        score = fitted.test and fitted.test.expected
        details |= {"weights_sha256": fitted.sha256, "measure": fitted.seen.measure, "score": score}
        finish_record(folder, details, splits_frame(fitted.parts, list(labels.ids)))
        with publishing(project, "embeddings.compute"):
            done = embed(project, [f"{name}=hash:{name}"], EmbedOptions(device="cpu"), replace=replace).models[0]
    return _hash_result(name, network.text, spec, fitted, plan, labels, done.rows, len(images) - done.rows)


def _design(options: HashOptions) -> "Design":
    from eds.training.hash_losses import Pairing, Scale
    from eds.training.hash_objective import Design

    pairing, scale = Pairing(options.margin, options.alpha), Scale.parse(options.scale)
    return Design(options.bits, options.objective, options.head, options.hidden, scale, pairing, options.bins)


def _spec_of(options: HashOptions, seed: int) -> dict[str, Any]:
    """What of the options the spec of the codes names."""
    return {
        "head": options.head,
        "bits": options.bits,
        "objective": options.objective,
        "labels": options.labels,
        "scale": str(_design(options).growing),
        "margin": options.margin,
        "alpha": options.alpha,
        "seed": seed,
    }


def _hash_result(
    name: str,
    base: str,
    spec: dict[str, Any],
    fitted: "HashRun",
    plan: "Plan",
    labels: "Supervision",
    codes: int,
    lacking: int,
) -> HashResult:
    return HashResult(
        name,
        base,
        **spec,
        rows=codes,
        test=fitted.test,
        seen=fitted.seen,
        validation_score=fitted.validation_score,
        split=_split_text(labels),
        trained_on=len(fitted.parts.train),
        validated_on=len(fitted.parts.validation),
        epochs=len(fitted.rows),
        best_epoch=fitted.best_epoch,
        keep=plan.keep,
        learning_rate=plan.learning_rate,
        warm_up=plan.warm_up,
        resumed_at=fitted.resumed_at,
        checkpoint=str(fitted.file),
        checkpoint_sha256=fitted.sha256,
        images_without_vector=lacking,
        log=fitted.rows,
    )


def _refuse_network_options(options: HashOptions) -> None:
    """Refuse options of a network that is trained, where a head is fitted to vectors."""
    names = ("random_init", "frozen", "crop", "device")
    if given := [name for name in names if getattr(options, name) != getattr(HashOptions(), name)]:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(f"{words} without a network", hint="Name the network that is trained: --network.")


def refresh(project: "Project") -> list[str]:
    """Encode the images of stale hash models with their heads; their base models must be fresh.

    A head is fitted again only where its base model has other weights now, or where it is asked for (`replace`).
    """
    made = []
    for name in project.models("embeddings"):
        state = project.state("embeddings", name)
        if state.condition == "stale" and state.operation == OPERATION:
            params = {key: value for key, value in state.params.items() if key != "arguments"}
            if not _encode_again(project, name, HashOptions(**params)):
                train_hash(project, name, HashOptions(**params), replace=True)
            made.append(name)
    return made


def _encode_again(project: "Project", name: str, options: HashOptions) -> bool:
    """Write the codes of all images by the head that there is; False if it was fitted to another base model."""
    from eds.backbones.families.hash import HEAD
    from eds.project.ranks_and_scores import open_vectors
    from eds.training.hash_head import load_head
    from eds.training.hash_model import describe_base, write_codes
    from eds.vectors import read_model

    target, head = project.path("embeddings", name), run_folder(project, name) / HEAD
    model = read_model(target)
    base = _base_model(project, options.base, name)
    if not head.exists() or digest(head) != model.weights_digest:
        return False
    vectors, images = open_vectors(project, [base], project.read("images"), allow_missing=True)[base]
    if describe_base(vectors) != model.spec.get("base"):
        return False
    design = {key: value for key, value in model.spec.items() if key not in ("loader", "base", "checkpoint_sha256")}
    made_by = _codes_provenance(project, name, base, options, int(design["seed"]))
    made_by = dataclasses.replace(made_by, notes=model.provenance.notes)
    ids = sorted(images["image_id"])
    with publishing(project, OPERATION), project.progress("encoding", "codes") as progress:
        write_codes(target, name, vectors, ids, load_head(head), model.weights_digest, design, made_by, progress)
    project.say(f"embeddings: {len(ids):,} codes by {name}, of the head that was fitted; fit it again with --replace")
    return True


def finetune(
    project: "Project", name: str, base: str, options: FinetuneOptions, *, replace: bool = False
) -> FinetuneResult:
    """Train a backbone on the catalogue's images; see `Project.finetune`."""
    from eds.backbones import preset_text
    from eds.backbones.trainable import trainable
    from eds.training.devices import devices_of
    from eds.training.dino import continue_dino
    from eds.training.finetune import finetune as by_labels
    from eds.training.pictures import PIXELS, prepare_images
    from eds.training.splits import splits_frame
    from eds.training.supervision import supervise

    self_supervised = options.objective == "dino"
    _refuse_unused(options, self_supervised)
    images = project.read("images")
    devices_of(options.device)  # refused before any image is read
    labels = options.labels or "product"
    base = preset_text(base)
    project.find_modules()
    random = f"{'&' if '?' in base else '?'}random_init=true" if options.random_init else ""
    with running(project, name, f"{options.objective} on {base}{random}") as folder:
        supervision = with_split(project, supervise(labels, images))
        if self_supervised and images["category"].notna().all():  # nothing is learned from them: for the score alone
            supervision = dataclasses.replace(supervision, category=supervise("category", images).category)
        plan = options.plan(project, "last" if self_supervised else _keep(supervision))
        _refuse_shares(options, supervision)
        network = trainable(base + random)
        dino = _dino(options, network.preprocessing.side) if self_supervised else None
        details: dict[str, Any] = {"kind": "finetune", "base": network.text, "base_sha256": network.weights_sha256}
        details |= {"objective": options.objective, "labels": None if dino else labels, "epochs": plan.epochs}
        begin_record(folder, details)
        if replace:  # prepared again from the catalogue
            (folder / PIXELS).unlink(missing_ok=True)
        with project.progress("reading", "images") as progress:
            pixels = prepare_images(
                images, supervision.ids, project.image_root, network.preprocessing, folder, progress
            )
        shared: dict[str, Any] = {"frozen": options.frozen, "device": options.device, "restart": replace}
        with project.progress("training", "epochs") as progress:
            if dino:
                trained = continue_dino(network, pixels, supervision, plan, folder, dino, progress=progress, **shared)
            else:
                trained = by_labels(
                    network, pixels, supervision, plan, folder, crop=options.crop, progress=progress, **shared
                )
        details |= {"weights_sha256": trained.sha256, "measure": "recognition", "score": trained.test_score}
        finish_record(folder, details, splits_frame(trained.parts, list(supervision.ids)))
    if trained.resumed_at:
        project.say(f"Resumed after epoch {trained.resumed_at}.")
    where = {} if project.root == Path() else {"project": str(project.root)}
    next_command = Operation("embeddings.compute", {"model": f"{name}={trained.text}", **where}).command
    return FinetuneResult(
        name,
        network.text,
        options.objective,
        None if dino else labels,
        trained.text,
        trained.sha256,
        trained.recognised,
        f"recognition of the {trained.recognised} among test queries (AP)",
        trained.before,
        trained.test_score,
        trained.seen_score,
        trained.validation_score,
        _split_text(supervision),
        trained.trained_on,
        trained.validated_on,
        trained.tested_on,
        len(trained.rows),
        trained.best_epoch,
        plan.keep,
        plan.learning_rate,
        plan.warm_up,
        plan.seed,
        options.frozen,
        trained.resumed_at,
        trained.rows,
        next_command,
    )


@contextmanager
def publishing(project: "Project", operation: str) -> Iterator[None]:
    """Hold the project to write what was trained; while another process holds it, wait: training may take hours."""
    for attempt in range(WAIT):
        try:
            with ExitStack() as held:
                held.enter_context(project.writing(operation))
                opened = held.pop_all()
            break
        except LockedError as error:
            if attempt == WAIT - 1:
                raise
            if attempt == 0:
                project.say(f"The model is trained. {error.what}: waiting to write its codes.")
            time.sleep(1)
    with opened:
        yield


def _keep(labels: "Supervision", objective: str = "") -> str:
    """The weights to keep where nothing was said: the best by the validation images, if there are any.

    Dispersal gives up some of the AP that they are chosen by: the last.
    """
    if objective in ("dispersed-dsh", "two-level-dsh"):
        return "last"
    return "best" if labels.parts is None or len(labels.parts.validation) else "last"


def _split_text(labels: "Supervision") -> str:
    return "drawn by product for this run" if labels.parts is None else "table splits"


def _refuse_shares(options: TrainingOptions, labels: "Supervision") -> None:
    """Refuse shares of a split where the project has its own."""
    names = ("validation_share", "test_share")
    given = [
        f"--{name.replace('_', '-')}" for name in names if getattr(options, name) != getattr(TrainingOptions, name)
    ]
    if given and labels.parts is not None:
        raise InputError(
            f"the project has its own split, and {' and '.join(given)} would change it",
            where="table splits",
            hint="Leave them out, or draw another: eds training split --replace.",
        )


def _codes_provenance(project: "Project", name: str, base: str, options: HashOptions, seed: int) -> Provenance:
    """The provenance of codes; the files are as they are now, before a model is trained."""
    parents = [project.path("images"), project.path("embeddings", base)]
    return project.provenance(
        OPERATION,
        {} if options.seed is not None else {"project.seed": seed},
        parents + ([project.path("truth")] if options.labels == "truth" else []),
        params={"arguments": [name], **_changed(options), "base": base},
    )


def _changed(options: TrainingOptions) -> dict[str, Any]:
    """The options that differ from their defaults."""
    defaults = asdict(type(options)())
    return {name: value for name, value in asdict(options).items() if value != defaults[name]}


def _base_model(project: "Project", base: str | None, name: str) -> str:
    """The model that is hashed: the one named, or the only one of floats."""
    from eds.vectors import read_model

    models = project.models("embeddings")
    floats = [model for model in models if read_model(project.path("embeddings", model)).dtype != "bits"]
    if base is None and len(floats) != 1:
        raise InputError("no base model given", hint=f"Name it: --base; there are {', '.join(floats) or 'none'}.")
    base = find_model(project, base) if base else floats[0]
    if base not in models:
        known = f"Known: {', '.join(models)}." if models else "Compute some: eds embeddings compute -m SPEC."
        raise ProjectError(f"no vectors of model {base}", where=str(project.root), hint=known)
    if base == name:
        raise InputError("the codes would replace their base model", where=f"model {name}", hint="Give another name.")
    return base


def _refuse_other_model(folder: Path, spec: dict[str, Any]) -> None:
    """Refuse to replace vectors that no hash head made, or one of another design."""
    from eds.vectors import read_model

    if not (folder / "model.json").exists():
        return
    model = read_model(folder)
    differing = [key for key in spec if model.spec.get(key) != spec[key]]
    if model.spec.get("loader") != "hash" or differing:
        raise ProjectError(
            f"{model.name} holds vectors that something else made",
            where=str(folder),
            hint="Give another name, or --replace them.",
            faults=[f"{key}: stored {model.spec.get(key)!r}, requested {spec[key]!r}" for key in differing],
        )


def _refuse_unused(options: FinetuneOptions, self_supervised: bool) -> None:
    """Refuse options that the objective would ignore."""
    names = ("labels",) if self_supervised else DINO
    unused = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]
    unused += ["--crop"] if self_supervised and options.crop else []
    if unused:
        raise InputError(
            f"objective {options.objective} takes no {', '.join(unused)}",
            hint="Leave it out, or give another --objective.",
        )


def _dino(options: FinetuneOptions, side: int) -> "Dino":
    """The self-supervised objective, with the authors' defaults."""
    from eds.training.crops import Crops
    from eds.training.dino import Dino

    text = options.temperature or "0.04"
    first, _, last = text.partition(":")
    try:
        temperatures = float(first), float(last or first)
    except ValueError as error:
        raise InputError(f"invalid temperature {text!r}", hint="Give numbers above 0, as 0.04 or 0.04:0.07.") from error
    local = options.local_size if options.local_size is not None else round(side * 3 / 7)
    crops = 4 if options.crops is None else options.crops
    return Dino(
        Crops(side, crops, local),
        4096 if options.prototypes is None else options.prototypes,
        0.996 if options.momentum is None else options.momentum,
        first_temperature=temperatures[0],
        teacher_temperature=temperatures[1],
        temperature_epochs=options.temperature_epochs or 0,
    )
