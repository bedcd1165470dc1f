"""The universe of pairs of a project: decided once, by the rules of the lists that the pool was made of."""

from typing import TYPE_CHECKING

from eds.errors import ProjectError
from eds.universe import ALL_PAIRS, PairRules, Universe

if TYPE_CHECKING:
    from eds.project import Project
    from eds.project.inputs import Inputs

COLUMNS = ("image_id", "product_id", "category", "role")


def pair_rules(project: "Project", universe: str | None = None) -> PairRules:
    """Return the rules that decide which pairs the project is about.

    They are those of the models' lists: of the pool's models, or of all lists while there is no pool. Where lists were
    made by different rules, it is what any of them may hold. What the lists do not say, and without lists everything,
    is as eds.toml says. `universe` "all" (or that setting) is the paper's universe: all pairs of images.
    """
    from eds import tables
    from eds.project.pool import pooled_models

    if (universe or project.config.suspects.universe) == "all":
        return ALL_PAIRS
    settings = project.config.neighbors
    usual = PairRules(settings.exclude_product, settings.one_per_product, settings.category)
    known = project.models("neighbors")
    names = [name for name in pooled_models(project) if name in known] or known
    rules = []
    for name in names:
        made_by, _ = tables.read_provenance(project.path("neighbors", name), tables.NEIGHBORS)
        values = {
            key: made_by.params.get(key, made_by.settings.get(f"neighbors.{key}", getattr(usual, key)))
            for key in ("exclude_product", "one_per_product", "category")
        }
        rules.append(PairRules(**values))
    if not rules:
        return usual
    categories = {rule.category for rule in rules}
    return PairRules(
        all(rule.exclude_product for rule in rules),
        all(rule.one_per_product for rule in rules),
        categories.pop() if len(categories) == 1 else "any",
    )


def project_universe(inputs: "Inputs", universe: str | None = None) -> Universe:
    """Return the universe of the project's catalogue; refuse a project without images."""
    project = inputs.project
    if not inputs.exists("images"):
        raise ProjectError(
            "there are no images yet", where=str(project.root), hint="Add some: eds images scan, or eds images import."
        )
    return Universe(inputs.images(), pair_rules(project, universe))
