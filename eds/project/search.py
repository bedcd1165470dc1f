"""Search by an image, a file or a text: each model's nearest images side by side, with what the labels say."""

import shlex
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from eds.errors import EdsError, InputError, ProjectError
from eds.project.models import find_models
from eds.project.neighbor_strips import DETAILS, pair_labels, read_lists
from eds.project.results import Result

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from eds.neighbors.lookup import Lookup
    from eds.project import Project
    from eds.vectors import Model

    Vector = np.ndarray[Any, np.dtype[np.float32]]

T = TypeVar("T")
Kind = Literal["image", "file", "text"]
LOADED = 4  # encoders that stay in memory
MANY = 20_000  # image ids; among more of them no similar one is looked for
LONGEST = 1000  # characters of a text


@dataclass(frozen=True)
class SkippedModel(Result):
    """A model that was not asked, and why."""

    model: str
    reason: str


@dataclass(frozen=True)
class SearchResult(Result):
    """The images that each model finds nearest to a query."""

    kind: Kind
    query: str  # an image id, a file's name, or the text
    k: int
    table: "pd.DataFrame"  # model, rank (from 1), candidate_id, score, found_by, label
    skipped: tuple[SkippedModel, ...]


def search(
    project: "Project",
    image: str | None = None,
    *,
    file: Path | None = None,
    text: str | None = None,
    models: Sequence[str] = (),
    k: int = 10,
) -> SearchResult:
    """Search by one of three kinds of query; see `Project.search`."""
    import pandas as pd

    if sum(given is not None for given in (image, file, text)) != 1:
        raise InputError("a search has one query", hint="Name an image of the catalogue, a file or a text.")
    if k < 1:
        raise InputError(f"k is {k}", hint="Show at least one candidate.")
    if image is not None:
        kind, query, lists, skipped = "image", image, *_of_image(project, image, models, k)
    elif file is not None:
        kind, query, lists, skipped = "file", file.name, *_of_file(project, file, models, k)
    else:
        kind, query, lists, skipped = "text", str(text).strip(), *_of_text(project, str(text).strip(), models, k)
    table = pd.concat([rows.assign(model=name) for name, rows in lists.items()], ignore_index=True)
    table["found_by"] = table.groupby("candidate_id")["model"].transform("nunique")
    table["label"] = ""
    if image is not None:
        pairs = table.assign(query_id=image)[["query_id", "candidate_id"]]
        wanted = [image, *dict.fromkeys(table["candidate_id"])]
        table["label"] = pair_labels(project, catalogue(project).loc[wanted], pairs)
    table["rank"] += 1
    columns = ["model", "rank", "candidate_id", "score", "found_by", "label"]
    return SearchResult(kind, query, k, table[columns], tuple(skipped))  # type: ignore[arg-type]


def _of_image(
    project: "Project", image: str, models: Sequence[str], k: int
) -> "tuple[dict[str, pd.DataFrame], list[SkippedModel]]":
    """The lists of an image of the catalogue: by vectors, and where a model has none by its mined or imported list."""
    known = catalogue(project).index
    if image not in known:
        near = get_close_matches(image, known, n=1) if len(known) < MANY else []
        hint = f"Did you mean {near[0]}?" if near else "eds images sheet shows the catalogue."
        if Path(image).is_file():
            hint = f"To search by this picture file: eds neighbors search --file {shlex.quote(image)}."
        raise InputError(f"no image {image!r}", where="table images", hint=hint)

    def find(name: str) -> "pd.DataFrame":
        if name in project.models("embeddings"):
            return lookup(project, name, k).find(image)
        lists = read_lists(project, [name])[name]
        rows = lists[(lists["query_id"] == image) & (lists["rank"] < k)].sort_values("rank")
        if not len(rows):
            raise InputError(f"{image} is not a query of its lists, and it has no vectors", where=f"model {name}")
        return rows[["candidate_id", "rank", "score"]].reset_index(drop=True)

    there = sorted({*project.models("embeddings"), *project.models("neighbors")})
    return _each(project, models, there, find)


def _of_file(
    project: "Project", file: Path, models: Sequence[str], k: int
) -> "tuple[dict[str, pd.DataFrame], list[SkippedModel]]":
    """The lists of a picture from elsewhere."""
    from eds.imaging import read_bytes

    data = read_bytes(file)
    return _each(
        project,
        models,
        project.models("embeddings"),
        lambda name: lookup(project, name, k).find_vector(_picture_vector(project, name, data, str(file))),
    )


def _of_text(
    project: "Project", text: str, models: Sequence[str], k: int
) -> "tuple[dict[str, pd.DataFrame], list[SkippedModel]]":
    """The lists of a text, by the models that have a text side."""
    if not text or len(text) > LONGEST:
        raise InputError("the text is empty" if not text else f"the text has more than {LONGEST:,} characters")
    return _each(
        project,
        models,
        project.models("embeddings"),
        lambda name: lookup(project, name, k).find_vector(_text_vector(project, name, text)),
    )


def _each(
    project: "Project", models: Sequence[str], there: Sequence[str], find: "Callable[[str], pd.DataFrame]"
) -> "tuple[dict[str, pd.DataFrame], list[SkippedModel]]":
    """What each model finds. A model that was named must answer; of all, those that cannot are left out and said."""
    if not there:
        raise ProjectError(
            "no model has vectors yet", where=str(project.root), hint="Compute them: eds embeddings compute."
        )
    named = find_models(project, models)
    if unknown := [name for name in named if name not in there]:
        raise ProjectError(
            f"no vectors of {', '.join(unknown)}", where=str(project.root), hint=f"There are: {', '.join(there)}."
        )
    lists, skipped, refused = {}, [], []
    for name in named or there:
        try:
            lists[name] = find(name)
        except EdsError as error:
            skipped.append(SkippedModel(name, str(error).splitlines()[0]))
            refused.append(error)
    if refused and (named or not lists):
        raise (
            refused[0]
            if len(refused) == 1
            else InputError(
                f"none of {len(refused)} models can answer" if not lists else f"{len(refused)} models cannot answer",
                faults=[f"{one.model}: {one.reason}" for one in skipped],
            )
        )
    return lists, skipped


def find_images(project: "Project", words: str = "", *, count: int = 12) -> "pd.DataFrame":
    """Images of the catalogue; see `Project.find_images`."""
    import numpy as np

    if count < 1:
        raise InputError(f"count is {count}", hint="Show at least one image.")
    images = catalogue(project)
    if not (part := words.strip().lower()):
        order = np.random.default_rng(project.config.project.seed).permutation(len(images))[:count]
        return images.iloc[np.sort(order)].reset_index()
    held = np.zeros(len(images), dtype=bool)
    for column in (images.index.to_series(), images["product_id"], images["category"]):
        held |= column.astype("str").str.lower().str.contains(part, regex=False).fillna(False).to_numpy(dtype=bool)
    return images[held].head(count).reset_index()


def catalogue(project: "Project") -> "pd.DataFrame":
    """Product and category of each image by its id; kept until the table images changes."""
    file = project.path("images")
    return _catalogue(file, file.stat().st_mtime_ns if file.exists() else 0)


@lru_cache(maxsize=2)
def _catalogue(file: Path, stamp: int) -> "pd.DataFrame":
    from eds import tables

    images = tables.read(file, tables.IMAGES, ["image_id", *DETAILS]).astype({"image_id": object})
    return images.set_index("image_id")


def lookup(project: "Project", name: str, k: int) -> "Lookup":
    """The candidates of a model under the rules of eds.toml; kept until the images or the vectors change."""
    from eds.neighbors.rules import Rules

    settings = project.config.neighbors
    rules = Rules(k, settings.exclude_product, settings.one_per_product, settings.category)
    folder, images = project.path("embeddings", name), project.path("images")
    stamps = tuple(file.stat().st_mtime_ns for file in (folder / "model.json", images) if file.exists())
    kept = _lookup(folder, images, stamps, astuple(replace(rules, k=1)))
    return replace(kept, rules=replace(rules, keep_ties=kept.rules.keep_ties))


@lru_cache(maxsize=8)
def _lookup(folder: Path, file: Path, stamps: tuple[int, ...], values: tuple[Any, ...]) -> "Lookup":
    from eds import tables
    from eds.neighbors.lookup import Lookup
    from eds.neighbors.rules import COLUMNS, Rules
    from eds.project.ranks_and_scores import find_known
    from eds.vectors import Vectors

    vectors = Vectors.open(folder)
    rules = replace(Rules(*values), keep_ties=vectors.model.dtype == "bits")
    images = tables.read(file, tables.IMAGES, list(COLUMNS))
    return Lookup.of(vectors, images[find_known(images["image_id"], vectors.id_column)], rules)


def _picture_vector(project: "Project", name: str, data: bytes, where: str) -> "Vector":
    from eds.imaging import rgb_of

    model, text, options = _origin(project, name)
    backbone = _kept(("image", text, model.weights_digest), lambda: _load(project, text, options))
    _check_weights(name, backbone.spec.weights_sha256, model)
    steps = backbone.spec.preprocessing
    draft = steps.size if steps.draft and steps.resize != "none" else None
    picture = rgb_of(data, where=where, background=steps.background, draft=draft)
    vector: Vector = backbone.encode(steps.pixels(picture)[None])[0]
    return vector


def _text_vector(project: "Project", name: str, text: str) -> "Vector":
    from eds.backbones.text import load_text

    model, spec, options = _origin(project, name)
    if model.dtype == "bits":
        raise InputError("codes cannot be searched by text", where=f"model {name}", hint="Search by a picture.")
    project.find_modules()
    encoder = _kept(("text", spec, model.weights_digest), lambda: load_text(spec, **options))
    _check_weights(name, encoder.weights_sha256, model)
    vector: Vector = encoder.encode_text([text])[0]
    return vector


def _load(project: "Project", text: str, options: dict[str, Any]) -> Any:
    from eds.backbones import load

    project.find_modules()
    return load(text, device=project.config.embeddings.device, **options)


def _origin(project: "Project", name: str) -> "tuple[Model, str, dict[str, Any]]":
    """What computed a model's vectors: its description, the spec and the options of loading."""
    from eds.project.embed import LOADING, parse_model
    from eds.vectors import read_model

    model = read_model(project.path("embeddings", name))
    made = project.state("embeddings", name)
    if made.operation != "embeddings.compute":
        raise InputError(
            "its vectors were imported, so it cannot encode a query from elsewhere",
            where=f"model {name}",
            hint="Search by an image of the catalogue.",
        )
    text = parse_model(str(made.params["models"][0]), project)[1]
    options = {key: made.params[key] for key in LOADING if key in made.params and key != "runtime"}
    return model, text, options


def _check_weights(name: str, found: str, model: "Model") -> None:
    if found != model.weights_digest:
        raise InputError(
            "its weights are others than those that computed its vectors",
            where=f"model {name}",
            hint="Restore them, or compute again: eds embeddings compute --replace.",
        )


_encoders: "OrderedDict[tuple[str, ...], Any]" = OrderedDict()


def _kept(key: tuple[str, ...], load: Callable[[], T]) -> T:
    """An encoder that was loaded before, or now; the one used longest ago goes."""
    if key not in _encoders:
        _encoders[key] = load()
    _encoders.move_to_end(key)
    while len(_encoders) > LOADED:
        _encoders.popitem(last=False)
    encoder: T = _encoders[key]
    return encoder
