"""Vectors of the images by each model: computed by backbones, or imported."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.choices import Device, OnBad, Precision, Runtime, Similarity, StoredType
from eds.errors import ConfigError, EdsError, InputError, TableError
from eds.io import Address, checked
from eds.project.executor import open_executor
from eds.project.models import find_model, full_spec, read_recorded, record, trained_on
from eds.project.results import Result, given_values

if TYPE_CHECKING:
    import pandas as pd

    from eds.backbones import Backbone
    from eds.choices import GivenRole
    from eds.embeddings.compute import Summary
    from eds.project import Project

BAD = ".eds/embeddings/bad.csv"
ARCHITECTURES = (  # the count: python -m tests.backbones.architectures
    "Others of timm and open_clip: timm:NAME, open_clip:NAME@TAG. 23 of 23 modern architectures that were tried load;"
    "\nwith --random-init they have random weights, which shows speed and memory before anything is downloaded."
)
LOADING = ("runtime", "precision", "random_init")
RANDOM = "its weights are random, which is for tests"


@dataclass(frozen=True)
class EmbedOptions:
    """How vectors are computed; None: as eds.toml says."""

    device: Device | None = None
    batch: int | None = None  # images in one forward pass
    workers: int | None = None  # threads that decode images; 0: one per core
    dtype: StoredType | None = None  # of the stored vectors
    runtime: Runtime = "auto"
    precision: Precision = "float32"  # of inference
    random_init: bool = False
    on_bad: OnBad | None = None

    @property
    def shaping(self) -> dict[str, Any]:
        """The options given that decide the vectors."""
        given = given_values(self)
        return {name: given[name] for name in ("dtype", *LOADING) if name in given}

    @property
    def loading(self) -> dict[str, Any]:
        """The options given that a backbone is loaded with."""
        given = given_values(self)
        return {name: given[name] for name in LOADING if name in given}


@dataclass(frozen=True)
class EmbeddedModel(Result):
    """The vectors of one model after a call."""

    model: str
    rows: int
    dimension: int
    computed: int
    kept: int  # that were there and are up to date
    images_per_second: float | None
    random: bool  # random weights


@dataclass(frozen=True)
class EmbedResult(Result):
    """The vectors of every model that was computed."""

    models: list[EmbeddedModel]
    bad: "pd.DataFrame"  # image_id, reason: images without a vector
    seconds: float
    bad_list: str = field(repr=False)  # the file with all images without a vector


@dataclass(frozen=True)
class ImportVectorsResult(Result):
    """Imported vectors."""

    model: str
    rows: int
    dimension: int
    dtype: str


@dataclass(frozen=True)
class VectorsState(Result):
    """The vectors that a model has."""

    model: str
    state: str
    why: list[str]
    dimension: int | None = None
    dtype: str | None = None
    similarity: str | None = None
    preprocessing_digest: str | None = None
    rows: int | None = None
    seconds: float | None = None
    images_per_second: float | None = None


@dataclass(frozen=True)
class EmbeddingsResult(Result):
    """The vectors of every model that has any, or has begun to."""

    models: list[VectorsState]


@dataclass(frozen=True)
class VectorsCheck(Result):
    """What a check of one model's vectors found."""

    model: str
    vectors: int | None = None
    without: int | None = None  # images without a vector
    unknown: int | None = None  # vectors of images that are not in the catalogue
    fault: str | None = None


@dataclass(frozen=True)
class CheckVectorsResult(Result):
    """The check of every model's vectors."""

    models: list[VectorsCheck]

    def raise_faults(self) -> None:
        """Raise TableError if any model has a fault."""
        faults = [f"{item.model}: {item.fault}" for item in self.models if item.fault]
        if faults:
            raise TableError(
                f"{len(faults)} of {len(self.models)} models are damaged", hint="Make them again.", faults=faults
            )


@dataclass(frozen=True)
class PresetsResult(Result):
    """Models under a name."""

    presets: list[dict[str, Any]] = field(default_factory=list)  # preset, kind, dimension, input, licence, ...
    architectures: str = ARCHITECTURES


def embed(
    project: "Project",
    models: Sequence[str] = (),
    options: EmbedOptions | None = None,
    *,
    role: "GivenRole | None" = None,
    replace: bool = False,
) -> EmbedResult:
    """Compute the vectors that are missing; see Project.embed."""
    import pandas as pd

    from eds.backbones import load
    from eds.embeddings.sources import USED
    from eds.io.files import write_text

    options, settings = options or EmbedOptions(), project.config.embeddings
    if not models:
        return _embed_known(project, options, replace=replace)
    texts = list(dict.fromkeys(_known_text(project, text, options) for text in models))
    if project.dry_run:
        _rehearse(project, texts, options, replace=replace)
    project.find_modules()
    with project.writing("embeddings.compute"):
        images = project.read("images", columns=USED.names)
        device = options.device or settings.device
        used = {} if options.dtype else {"embeddings.dtype": settings.dtype}
        backbones, specs, made_by, named = {}, {}, {}, {}
        kept = {} if replace else _up_to_date(project, texts, options, len(images))
        for text in texts:
            if text in kept:
                continue
            name, spec = parse_model(text, project)
            backbone = load(spec, device=device, **options.loading)
            name = name or backbone.spec.default_name
            if name in backbones or name in kept.values():
                raise InputError(f"two models are called {name}", where=text, hint="Name one of them: NAME=SPEC.")
            backbones[name], specs[name], named[name] = backbone, spec, text
            params = {"models": [text], **options.shaping}
            made_by[name] = project.provenance("embeddings.compute", used, [project.path("images")], params=params)
        done = [_kept(project, name) for name in kept.values()]
        for name, text in kept.items():
            record(project, text, parse_model(name)[1], role=role)
        if not backbones:
            return EmbedResult(done, pd.DataFrame(columns=["image_id", "reason"]), 0.0, str(project.root / BAD))
        summary = _compute(
            project,
            images,
            backbones,
            specs,
            {"device": device, **options.loading},
            workers=settings.workers if options.workers is None else options.workers,
            provenance=made_by,
            batch=options.batch or settings.batch,
            dtype=options.dtype or settings.dtype,
            on_bad=options.on_bad or project.config.images.on_bad,
            replace=replace,
        )
        write_text(project.root / BAD, summary.bad.to_csv(index=False))
        for name, spec in specs.items():
            record(project, name, spec, role=role, trained=trained_on(project, name))
    done += [
        EmbeddedModel(
            item.model.name,
            item.model.rows,
            item.model.dimension,
            item.computed,
            item.kept,
            item.model.images_per_second,
            item.model.random,
        )
        for item in summary.models
    ]
    names = {**{name: text for text, name in kept.items()}, **named}
    done.sort(key=lambda item: texts.index(names[item.model]))
    return EmbedResult(done, summary.bad, summary.seconds, str(project.root / BAD))


def _rehearse(project: "Project", texts: Sequence[str], options: EmbedOptions, *, replace: bool) -> None:
    """Say what would be computed, without loading a network; the dry run ends here."""
    from eds.backbones import Request
    from eds.embeddings.sources import USED, Sources

    images, there = project.read("images", columns=USED.names), project.models("embeddings")
    kept = {} if replace else _up_to_date(project, texts, options, len(images))
    states = (project.state("embeddings", name) for name in there)
    computed = {str(state.params.get("models", [""])[0]): str(state.model) for state in states}
    wanted = Sources(images, project.pictures).wanted if set(texts) & set(computed) else None
    recorded = {model.name for model in read_recorded(project)}
    for text in (text for text in texts if text not in kept):
        name, spec = parse_model(text, project)
        name, request = computed.get(text) or name, Request.parse(spec)
        missing = len(images)
        if name in there and wanted is not None and not replace:
            missing = _without_vector(project, name, wanted)
        what = f"embeddings/{name}" if name else f"vectors by {request.loader}:{request.name}"
        project.would("compute", what, f"of {missing:,} of {len(images):,} images")
        if name not in recorded:
            project.would("change", "eds.toml", f"[[models]] {name or request.text}")
    project.end_rehearsal()


def _without_vector(project: "Project", name: str, wanted: "pd.DataFrame") -> int:
    """How many of the images have no vector of the content that they have now."""
    import pandas as pd

    from eds.vectors import Vectors

    vectors = Vectors.open(project.path("embeddings", name))
    sources = pd.Series(vectors.sources, index=vectors.ids)
    return int((wanted["image_id"].map(sources) != wanted["source"]).sum())


def _up_to_date(project: "Project", texts: Sequence[str], options: EmbedOptions, images: int) -> dict[str, str]:
    """The name of each model, by its text, whose vectors are complete and were computed just so.

    Their networks are not loaded, which takes seconds each. A model that lacks an image is tried again.
    """
    from eds.project.status import missing_files
    from eds.vectors import read_model

    kept = {}
    for name in project.models("embeddings"):
        state = project.state("embeddings", name)
        text = str(state.params.get("models", [""])[0])
        same = state.operation == "embeddings.compute" and state.params == {"models": [text], **options.shaping}
        if not (same and text in texts and state.condition == "fresh") or missing_files(project, name):
            continue
        model = read_model(project.path("embeddings", name))
        if model.rows == images and not _has_other_weights(parse_model(text, project)[1], model.weights_digest):
            kept[text] = name
    return kept


def _has_other_weights(spec: str, sha256: str) -> bool:
    """Whether the spec names a weights file that has changed, or a folder, whose files are not compared."""
    from eds.backbones import Request
    from eds.io.files import digest

    request = Request.parse(spec)
    named = request.name if request.loader in ("checkpoint", "hash") else request.weights.rpartition("=")[2]
    path = Path(named).expanduser() if named else None
    if request.loader == "hash" and path and path.is_dir():
        path = path / "head.safetensors"
    if request.name.startswith("local-dir:") or (path and path.is_dir()):
        return True
    return bool(path and path.is_file() and digest(path) != sha256)


def _kept(project: "Project", name: str) -> EmbeddedModel:
    from eds.vectors import read_model

    model = read_model(project.path("embeddings", name))
    return EmbeddedModel(name, model.rows, model.dimension, 0, model.rows, None, model.random)


def refresh(project: "Project") -> list[EmbedResult]:
    """Compute the models of eds.toml that are missing, and all that are stale, with the options they were made with.

    The networks of models that are up to date are not loaded. Imported vectors are left as they are.
    """
    results = []
    for group in _group_known(project, outdated_only=True):
        results.append(embed(project, group.texts, EmbedOptions(**group.shaping), replace=group.changed))
        for item in results[-1].models:
            project.say(f"embeddings: {item.rows:,} vectors by {item.model}, {item.computed:,} computed now")
    return results


def _embed_known(project: "Project", options: EmbedOptions, *, replace: bool) -> EmbedResult:
    """Bring the vectors of every model of the project up to date, each with the options it was made with."""
    import pandas as pd

    results = [
        embed(
            project,
            group.texts,
            EmbedOptions(**{**group.shaping, **given_values(options)}),
            replace=replace or group.changed,
        )
        for group in _group_known(project)
    ]
    if not results:
        raise ConfigError("no model is named", where="eds.toml, embeddings.models", hint="Name one: -m SPEC.")
    bad = pd.concat([result.bad for result in results], ignore_index=True)
    models = [item for result in results for item in result.models]
    return EmbedResult(models, bad, sum(result.seconds for result in results), results[0].bad_list)


@dataclass(frozen=True)
class _Group:
    """Models computed alike: they share one pass over the images."""

    texts: list[str]
    shaping: dict[str, Any]
    changed: bool  # whether a setting changed since: all their vectors are computed again


def _group_known(project: "Project", *, outdated_only: bool = False) -> list[_Group]:
    """The models of eds.toml, and those whose vectors were computed, without removed ones."""
    from eds.project.status import missing_files

    states = [project.state("embeddings", name) for name in project.models("embeddings")]
    computed = {state.params["models"][0]: state for state in states if state.operation == "embeddings.compute"}
    recorded = read_recorded(project)
    removed = {text for model in recorded if model.role == "removed" for text in (model.name, model.spec) if text}
    missing = {model.name: model.spec for model in recorded if model.spec and model.role != "removed"}
    for state in states:
        missing.pop(str(state.model), None)
    named = [text for text in project.config.embeddings.models if not {text, *parse_model(text)} & removed]
    unnamed = {spec for name, spec in map(parse_model, named) if not name}  # may be one of the recorded models
    unnamed -= {parse_model(text)[1] for text in computed}
    named += [f"{name}={spec}" for name, spec in missing.items() if spec not in unnamed]
    texts = [*dict.fromkeys([*named, *computed])]
    if not texts and not states:
        raise ConfigError(
            "no model is named",
            where="eds.toml, embeddings.models",
            hint="Name one: eds embeddings compute -m wheel:efficientnet_lite0, or import vectors: eds embeddings"
            " import.",
        )
    groups: dict[tuple[bool, str], list[str]] = {}
    for text in texts:
        made = computed.get(text)
        if outdated_only and made and made.condition == "fresh" and not missing_files(project, str(made.model)):
            continue
        changed = bool(made and any(why.startswith("embeddings.") for why in made.reasons))
        shaping = {name: value for name, value in (made.params if made else {}).items() if name != "models"}
        groups.setdefault((changed, json.dumps(shaping, sort_keys=True)), []).append(text)
    return [_Group(group, json.loads(shaping), changed) for (changed, shaping), group in groups.items()]


def _known_text(project: "Project", text: str, options: EmbedOptions) -> str:
    """The text that a model of the project was computed by, where this one names that model."""
    name = find_model(project, text, whole=True)
    if name not in project.models("embeddings") or options.loading:
        return text
    state = project.state("embeddings", name)
    if state.operation != "embeddings.compute":
        return text
    made = str(state.params["models"][0])
    specs = {full_spec(parse_model(one)[1]) for one in (text, made)}
    return made if text == name or len(specs) == 1 else text


def import_vectors(
    project: "Project",
    name: str,
    vectors: "Address | str",
    ids: "Address | str | None" = None,
    *,
    similarity: Similarity | None = None,
    dtype: StoredType | None = None,
    bits: int | None = None,
    part: str = "",
    partial: bool = False,
    role: "GivenRole | None" = None,
    replace: bool = False,
) -> ImportVectorsResult:
    """Copy vectors from a file or another project; see Project.import_vectors."""
    from eds.embeddings.importing import import_vectors as copy
    from eds.project.excluded_images import read_excluded
    from eds.project.remote_paths import fetch_files

    sources = [checked(address) for address in (vectors, ids) if address is not None]
    params = {
        "arguments": [name, *map(str, sources)],
        "similarity": similarity,
        "dtype": dtype,
        "bits": bits,
        "part": part or None,
        "partial": partial or None,
    }
    with project.writing("embeddings.import"), fetch_files(project, sources) as files:
        similarity, bits = _described(files[0], similarity, bits)
        if project.dry_run:
            there = project.path("embeddings", name).exists()
            project.would("replace" if there else "make", project.path("embeddings", name), f"vectors of {sources[0]}")
            record(project, name, role=role)
            project.end_rehearsal()
        made_by = project.provenance("embeddings.import", {}, [project.path("images")], params=params)
        images = project.read("images", columns=["image_id", "path"])
        with project.progress("copying", "vectors") as progress:
            model = copy(
                name,
                files[0],
                files[1] if ids is not None else None,
                images,
                project.path("embeddings", name),
                provenance=made_by,
                left_out=read_excluded(project),
                progress=progress,
                replace=replace,
                similarity=similarity or "cosine",
                dtype=dtype,
                bits=bits,
                part=part,
                partial=partial,
            ).model
        record(project, name, role=role)
    return ImportVectorsResult(name, model.rows, model.dimension, model.dtype)


def embeddings(project: "Project") -> EmbeddingsResult:
    """Read the state of every model's vectors; see Project.embeddings."""
    return EmbeddingsResult([_state(project, name) for name in _folders(project)])


def check_vectors(project: "Project") -> CheckVectorsResult:
    """Compare the vectors with their digests and with the catalogue; see Project.check_vectors."""
    from eds.vectors import Vectors

    known = set(project.read("images", columns=["image_id"])["image_id"])
    checks = []
    for name in _folders(project):
        try:
            vectors = Vectors.open(project.path("embeddings", name))
            vectors.verify()
        except (EdsError, OSError) as error:
            checks.append(VectorsCheck(name, fault=str(error).replace("\n", " ")))
            continue
        ids = set(vectors.ids.tolist())
        unknown = len(ids - known)
        fault = f"{unknown:,} vectors of images that are not in table images" if unknown else None
        checks.append(VectorsCheck(name, len(ids), len(known - ids), unknown, fault))
    return CheckVectorsResult(checks)


def presets() -> PresetsResult:
    """Models under a name, those of the paper first: what they are, and whether their weights are on this machine."""
    from eds.backbones import MODERN, PRESETS, Preset
    from eds.backbones.modern_presets import PAPER, Facts, NamedModel, state_of

    models: list[tuple[str, str, Preset | NamedModel, Facts]]
    models = [(name, "paper", preset, PAPER[name]) for name, preset in PRESETS.items()]
    models += [(name, "modern", model, model.facts) for name, model in MODERN.items()]
    return PresetsResult(
        [
            {
                "preset": name,
                "kind": kind,
                "dimension": model.dimension,
                "input": facts.side,
                "licence": facts.licence,
                "megabytes": facts.megabytes,
                "weights": state_of(facts, model.file),
                "note": model.note or None,
                "spec": model.text,
            }
            for name, kind, model, facts in models
        ]
    )


def _compute(
    project: "Project",
    images: "pd.DataFrame",
    backbones: "dict[str, Backbone]",
    specs: dict[str, str],
    loading: dict[str, Any],
    **options: Any,
) -> "Summary":
    """Update every model's folder; `specs` and `loading` are what the backbones were loaded from."""
    from eds.embeddings.compute import compute
    from eds.embeddings.tasks import Recipe

    folders = {name: project.path("embeddings", name) for name in backbones}
    recipes = [Recipe(name, specs[name], backbone.spec.digest, **loading) for name, backbone in backbones.items()]
    with (
        open_executor(project, "embeddings") as executor,
        project.progress("computing", "parts" if executor else "images") as progress,
    ):
        return compute(
            images,
            project.pictures,
            backbones,
            folders,
            executor=executor,
            recipes=recipes,
            progress=progress,
            **options,
        )


def parse_model(text: str, project: "Project | None" = None) -> tuple[str, str]:
    """The name ("" if none is given) and the spec; a bare word, or word@FILE, is a preset.

    `hash:NAME` is the hash function of that run of the project.
    """
    from eds.backbones import name_and_spec, preset_text

    name, spec = name_and_spec(text)
    loader, _, run = spec.partition(":")
    if project and loader == "hash" and (folder := project.root / "training" / run).is_dir():
        return name or f"hash-{run}", f"hash:{folder}"
    preset = spec.partition("@")[0]
    return name if ":" in preset else name or preset, preset_text(spec)


def _described(path: Path, similarity: Similarity | None, bits: int | None) -> tuple[Any, int | None]:
    """Similarity and bits; of another project's folder as its description says, unless given."""
    from eds.vectors import read_model

    if not path.is_dir():
        return similarity, bits
    model = read_model(path)
    return similarity or model.similarity, bits or (model.dimension if model.dtype == "bits" else None)


def _folders(project: "Project") -> list[str]:
    """Every model that has vectors, or has begun to."""
    begun = {path.parent.name for path in (project.root / "embeddings").glob("*/partial.json")}
    return sorted({*project.models("embeddings"), *begun})


def _state(project: "Project", name: str) -> VectorsState:
    from eds.project.status import missing_files
    from eds.vectors import read_model

    folder = project.path("embeddings", name)
    try:
        model = read_model(folder)
        missing = missing_files(project, name)
    except EdsError as error:
        condition = "damaged" if (folder / "model.json").exists() else "not finished"
        return VectorsState(name, condition, [str(error)])
    state = project.state("embeddings", name)
    return VectorsState(
        model=name,
        state="damaged" if missing else state.condition,
        why=[*missing, *state.reasons, *([RANDOM] if model.random else [])],
        dimension=model.dimension,
        dtype=model.dtype,
        similarity=model.similarity,
        preprocessing_digest=model.preprocessing_digest or None,
        rows=model.rows,
        seconds=model.seconds,
        images_per_second=model.images_per_second,
    )
