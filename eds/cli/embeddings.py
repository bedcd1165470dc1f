"""`eds embeddings`: vectors of the images by each model: compute them, bring them in, list and check them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.addresses import THERE, fetching, here
from eds.cli.console import Console, command, given
from eds.cli.options import executor_option, one_of
from eds.cli.render import format_table
from eds.errors import ConfigError, EdsError, TableError
from eds.project.embed import compute_models, import_model
from eds.project.status import missing_files

if TYPE_CHECKING:
    from eds.embeddings.compute import Summary
    from eds.io import Address
    from eds.project import Project

SHOWN = 10  # bad images told on the screen; all are in the list beside the project
RANDOM = "its weights are random, which is for tests"
LIST = ".eds/embeddings/bad.csv"


@click.group()
def embeddings() -> None:
    """Compute vectors of the images by each model, or bring in your own."""


@command(embeddings, "compute", example="eds embeddings compute -m wheel:efficientnet_lite0 -m colour=descriptor:hsv")
@click.option(
    "-m", "--model", "models", multiple=True, metavar="[NAME=]SPEC|PRESET", help="A model (default: those of eds.toml)."
)
@click.option("--device", type=one_of(choices.Device), help="Where models run.")
@click.option("--batch", type=click.IntRange(1), help="Images in one forward pass.")
@click.option("--workers", type=click.IntRange(0), help="Threads that decode images; 0: one per core.")
@click.option("--dtype", type=one_of(choices.StoredType), help="How vectors are stored.")
@click.option("--runtime", type=one_of(choices.Runtime), default="auto", help="What runs networks.")
@click.option("--precision", type=one_of(choices.Precision), default="float32", help="Of the arithmetic.")
@click.option("--random-init", is_flag=True, help="Untrained weights, for trying things out.")
@click.option("--on-bad", type=one_of(choices.OnBad), help="Skip and list unreadable images, or refuse.")
@click.option("--replace", is_flag=True, help="Make anew what other weights or settings made under the same name.")
@executor_option
def compute(console: Console, models: tuple[str, ...], replace: bool, **options: Any) -> None:
    """Compute the vectors that are missing: of new and changed images, by every model."""
    project = console.project
    asked = [*(models or project.config.embeddings.models)]
    if not asked:
        raise ConfigError("no model is named", where="eds.toml, embeddings.models", do="Name one: -m SPEC.")
    with project.writing("eds embeddings compute"):
        summary = compute_models(project, asked, given(options), replace=replace)
    console.answer(_document(summary), lambda: _told(summary))


@command(embeddings, "import", example="eds embeddings import ours vectors.npy ids.txt --similarity cosine")
@click.argument("name")
@click.argument("vectors", metavar="VECTORS|FOLDER|URL", type=THERE)
@click.argument("ids", metavar="[IDS|URL]", type=THERE, required=False)
@click.option("--similarity", type=one_of(choices.Similarity), default="cosine", help="How vectors are compared.")
@click.option("--dtype", type=one_of(choices.StoredType), help="How they are stored (default: as given).")
@click.option("--bits", type=click.IntRange(1), help="Of packed codes, how many bits count (default: all).")
@click.option("--part", default="", help="The array or column, where the file has several.")
@click.option("--partial", is_flag=True, help="Allow images without a vector.")
@click.option("--replace", is_flag=True, help="Replace other vectors of this name.")
def import_(
    console: Console, name: str, vectors: "Address", ids: "Address | None", partial: bool, replace: bool, **options: Any
) -> None:
    """Bring in vectors (.npy, .npz, .parquet, .safetensors) and the image id of each, or another project's folder.

    Each may be s3://bucket/key: it is fetched, and a folder's shards are held against their digests.
    """
    project = console.project
    with project.writing("eds embeddings import"), fetching(project) as folder:
        files_here = here(vectors, folder), None if ids is None else here(ids, folder)
        if files_here[0].is_dir():
            options |= {**_as_made(files_here[0]), **given(options)}
        done = import_model(
            project, name, *files_here, named=(vectors, ids), partial=partial, replace=replace, **options
        )
    model = done.model
    console.answer(
        {"model": name, "rows": model.rows, "dimension": model.dimension, "dtype": model.dtype},
        f"{model.rows:,} vectors of {model.dimension:,} {'bits' if model.dtype == 'bits' else model.dtype} as {name}.",
    )


def _as_made(folder: Path) -> dict[str, Any]:
    """What a model's folder says of its vectors, where the user does not."""
    from eds.vectors import read_model

    model = read_model(folder)
    bits = model.dimension if model.dtype == "bits" else None
    return {"similarity": model.similarity, "bits": bits}


@command(embeddings, "list", example="eds embeddings list --presets")
@click.option("--presets", is_flag=True, help="The paper's models and how to name them, instead of this project's.")
def list_(console: Console, presets: bool) -> None:
    """List the models of the project, or the paper's."""
    if presets:
        from eds.backbones import PRESETS

        rows: list[dict[str, Any]] = [
            {"preset": name, "dimension": preset.dimension, "note": preset.note or None, "spec": preset.text}
            for name, preset in PRESETS.items()
        ]
        headings = ["preset", "dimension", "note", "spec"]
    else:
        rows = [_described(console.project, name) for name in _folders(console.project)]
        headings = [
            "model",
            "dimension",
            "dtype",
            "similarity",
            "preprocessing",
            "rows",
            "seconds",
            "images/s",
            "state",
        ]
    text = format_table(headings, [[row[heading] for heading in headings] for row in rows])
    text += "".join(f"\n{row['model']}: {why}" for row in rows if row.get("state") == "damaged" for why in row["why"])
    console.answer(rows, text if rows else "No model has vectors yet: eds embeddings compute -m SPEC.")


@command(embeddings, "check", example="eds embeddings check")
def check(console: Console) -> None:
    """Hold every shard against its digest, and the ids against table images."""
    from eds.vectors import Vectors

    project = console.project
    known = set(project.read("images", columns=["image_id"])["image_id"])
    rows: list[dict[str, Any]] = []
    for name in _folders(project):
        row: dict[str, Any] = {"model": name, "vectors": None, "without": None, "unknown": None, "fault": None}
        try:
            vectors = Vectors.open(project.path("embeddings", name))
            vectors.verify()
            ids = set(vectors.ids.tolist())
            row |= {"vectors": len(ids), "without": len(known - ids), "unknown": len(ids - known)}
            if row["unknown"]:
                row["fault"] = f"{row['unknown']:,} vectors of images that are not in table images"
        except (EdsError, OSError) as error:
            row["fault"] = str(error).replace("\n", " ")
        rows.append(row)
    headings = ["model", "vectors", "without", "unknown", "fault"]
    console.answer(rows, lambda: format_table(headings, [[row[heading] for heading in headings] for row in rows]))
    faults = [f"{row['model']}: {row['fault']}" for row in rows if row["fault"]]
    if faults:
        raise TableError(f"{len(faults)} of {len(rows)} models are not whole", do="Make them again.", faults=faults)


def run(project: "Project") -> None:
    """Compute the models of eds.toml that are missing, and all that are stale, each with the options it was made with.

    Fresh ones are left alone, their networks not even loaded; imported vectors are the user's to renew.
    """
    states = [project.state("embeddings", name) for name in project.models("embeddings")]
    computed = {state.params["model"]: state for state in states if "model" in state.params}
    asked = [*dict.fromkeys([*project.config.embeddings.models, *computed])]
    if not asked and not states:
        raise ConfigError(
            "no model is named", where="eds.toml, embeddings.models",
            do='Write for example models = ["wheel:efficientnet_lite0"], or import vectors: eds embeddings import.',
        )  # fmt: skip
    groups: dict[tuple[bool, str], list[str]] = {}  # models computed alike share one pass over the pictures
    for text in asked:
        state = computed.get(text)
        if state and state.condition == "fresh" and not missing_files(project, str(state.model)):
            continue
        changed = bool(state and any(why.startswith("embeddings.") for why in state.reasons))
        options = {name: value for name, value in (state.params if state else {}).items() if name != "model"}
        groups.setdefault((changed, json.dumps(options, sort_keys=True)), []).append(text)
    for (changed, options_text), texts in groups.items():  # a changed setting of eds.toml: all vectors are made anew
        project.say(_told(compute_models(project, texts, json.loads(options_text), replace=changed)))


def _folders(project: "Project") -> list[str]:
    """Every model that has vectors, or has begun to."""
    begun = {path.parent.name for path in (project.root / "embeddings").glob("*/partial.json")}
    return sorted({*project.models("embeddings"), *begun})


def _described(project: "Project", name: str) -> dict[str, Any]:
    from eds.vectors import read_model

    row: dict[str, Any] = dict.fromkeys(
        ("dimension", "dtype", "similarity", "preprocessing", "preprocessing_digest", "rows", "seconds", "images/s")
    )
    folder = project.path("embeddings", name)
    try:
        model = read_model(folder)
        lost = missing_files(project, name)
    except EdsError as error:
        condition = "damaged" if (folder / "model.json").exists() else "not finished"
        return {"model": name, **row, "state": condition, "why": [str(error)]}
    state = project.state("embeddings", name)
    return {
        "model": name, "dimension": model.dimension, "dtype": model.dtype, "similarity": model.similarity,
        "preprocessing": model.preprocessing_digest[:8] or None,
        "preprocessing_digest": model.preprocessing_digest or None, "rows": model.rows, "seconds": model.seconds,
        "images/s": model.images_per_second, "state": "damaged" if lost else state.condition,
        "why": [*lost, *state.reasons, *([RANDOM] if model.random else [])],
    }  # fmt: skip


def _document(summary: "Summary") -> dict[str, Any]:
    models = [
        {"model": done.model.name, "rows": done.model.rows, "computed": done.computed, "kept": done.kept,
         "images_per_second": done.model.images_per_second}
        for done in summary.models
    ]  # fmt: skip
    return {"models": models, "bad": summary.bad, "seconds": summary.seconds}


def _told(summary: "Summary") -> str:
    lines = [
        f"{done.model.name}: {done.model.rows:,} vectors of {done.model.dimension:,}, {done.computed:,} computed"
        + (f" at {rate:,.0f} images/s" if done.computed and (rate := done.model.images_per_second) else "")
        + (f"; {RANDOM}" if done.model.random else "")
        for done in summary.models
    ]
    if len(summary.bad):
        lines.append(f"{len(summary.bad):,} images have no vector ({LIST}):")
        lines += [f"  {name}: {reason}" for name, reason in summary.bad[:SHOWN].to_numpy().tolist()]
    return "\n".join(lines)
