"""`eds models`: the models of the project, and what each is for."""

from typing import TYPE_CHECKING

import click

from eds.choices import GivenRole
from eds.cli.console import Console, command
from eds.cli.options import role_option
from eds.cli.render import format_share, format_table

if TYPE_CHECKING:
    from eds.project.models import ModelsResult, ProjectModel


@click.group()
def models() -> None:
    """Models of the project: generators and evaluated ones.

    The lists of generators make the pool; evaluated models are only compared. Models are recorded in eds.toml.
    """


@command(models, "list", example="eds models list --json", reads=True)
def list_(console: Console) -> None:
    """List the models with their roles."""
    console.show(console.project.list_models(), render_models)


@command(models, "add", example="eds models add lite0=wheel:efficientnet_lite0 --role evaluated")
@click.argument("model", metavar="NAME=SPEC|MODEL")
@role_option
def add(console: Console, model: str, role: GivenRole | None) -> None:
    """Record a model for eds run, or change a model's role."""
    console.show(console.project.add_model(model, role=role), render_model)


@command(models, "remove", example="eds models remove hsv")
@click.argument("model")
def remove(console: Console, model: str) -> None:
    """Delete a model's vectors, lists and scores.

    Pairs that it proposed and their labels stay; eds.toml records that it was removed.
    """
    console.show(console.project.remove_model(model), render_models)


@command(models, "rename", example="eds models rename wheel-efficientnet_lite0 lite0")
@click.argument("model")
@click.argument("name")
def rename(console: Console, model: str, name: str) -> None:
    """Give a model another name."""
    console.show(console.project.rename_model(model, name), render_models)


def render_models(result: "ModelsResult") -> str:
    """A row per model."""
    if not result.models:
        return "No models yet: eds embeddings compute -m SPEC."
    heads = ["model", "role", "spec", "trained on", "vectors", "lists", "pairs proposed", "judged"]
    rows = [
        [
            item.name,
            item.role,
            item.spec or None,
            ", ".join(item.trained_on) or None,
            item.vectors,
            "yes" if item.lists else None,
            item.proposed or None,
            None if item.judged is None else format_share(item.judged),
        ]
        for item in result.models
    ]
    return format_table(heads, rows)


def render_model(item: "ProjectModel") -> str:
    """What a model is recorded as."""
    missing = "" if item.vectors else "; it has no vectors yet: eds embeddings compute, or eds run"
    return f"{item.name} is recorded: {item.role}{missing}."
