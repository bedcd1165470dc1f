"""Pairs for the experts beside the pool: random draws, negatives, gold, repeats, chosen pairs, pairs of a new model."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError, ProjectError
from eds.project.inputs import Inputs
from eds.project.journal import suspects_and_withdrawn, write_suspects
from eds.project.mine import check_depth, read_heads
from eds.project.models import find_model, generators
from eds.project.pool import pool_depth, read_decided, suspects_provenance
from eds.project.price import judged_pairs, price_of, price_of_suspects
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.choices import UniverseChoice
    from eds.project import Project
    from eds.project.price import Price
    from eds.universe import UniverseSize

PAIR = ["query_id", "candidate_id"]
NEAREST, DEEPEST = 100, 500  # ranks of negatives, where the lists are so deep; else the lower half of the lists


@dataclass(frozen=True)
class DrawResult(Result):
    """Pairs drawn by one call; `table` holds all suspects now."""

    drawn: int
    price: "Price"  # of the pairs that this call added
    table: "pd.DataFrame" = field(repr=False)


@dataclass(frozen=True)
class RandomResult(DrawResult):
    """Random pairs of a stratum."""

    stratum: str
    stratum_size: int  # units of the stratum
    drawn_before: int  # random pairs of this stratum drawn by earlier calls
    probability: float  # with which each pair of the stratum has been drawn by now
    universe: "UniverseSize"  # what a pair is, and how many there are in all


@dataclass(frozen=True)
class NegativesResult(DrawResult):
    """Sampled negatives."""

    n: int  # requested for each query
    queries: int  # queries with at least one negative
    queries_with_fewer: int  # queries of the catalogue with fewer than n
    min_rank: int
    max_rank: int  # not included


@dataclass(frozen=True)
class Undecided(Result):
    """A model that the labels cannot tell apart from a new one."""

    model: str
    least: int | None  # fewest new labels that could decide; None: labels of these pairs alone cannot


@dataclass(frozen=True)
class ModelPairsResult(Result):
    """Pairs whose judgement decides where a new model ranks; counts are of pairs within its first k."""

    model: str
    k: int
    pairs: int  # of queries that have a label
    judged: int
    waiting: int  # chosen earlier, and not judged yet
    added: int
    labelled_at_random: int  # labelled by random draws: they join the pool and need no judgement
    left: int  # neither judged nor chosen, because of n
    judged_after: float  # share judged when all chosen pairs are judged
    undecided: list[Undecided]
    price: "Price"  # of the pairs that were added
    table: "pd.DataFrame" = field(repr=False)


def draw_random(
    project: "Project",
    n: int,
    *,
    stratum: str = "all",
    min_rank: int | None = None,
    max_rank: int = 100,
    universe: "UniverseChoice | None" = None,
    add: bool = False,
) -> RandomResult:
    """Draw uniform random pairs; see Project.draw_random."""
    from eds.project.universe import project_universe
    from eds.suspects import RankWindow
    from eds.suspects import draw_random as draw
    from eds.suspects.random_pairs import drawn_from, stratum_name

    with project.writing("suspects.random"):
        inputs = Inputs(project)
        pairs = project_universe(inputs, universe)
        near: dict[str, Any] = {}
        if stratum in ("near", "rest"):
            models = generators(project)
            check_depth(project, models, max_rank, f"stratum {stratum} up to rank {max_rank}")
            least = pool_depth(project) if min_rank is None else min_rank
            if least is None:
                raise InputError(
                    "there is no pool yet",
                    where="option --min-rank",
                    hint="Make it (eds suspects pool), or give --min-rank.",
                )
            near = {"neighbors": read_heads(project, models, max_rank), "window": RankWindow(least, max_rank)}
        seed = project.config.project.seed
        params = {"n": n, "stratum": stratum, "universe": universe}
        params |= {"min_rank": min_rank, "max_rank": max_rank} if near else {}
        before = inputs.suspects
        done = not add and project.path("suspects").exists() and _was_done(project, "random", params)
        if done:
            table, price = before, price_of(project, 0)
        else:
            table = draw(pairs, n, seed, suspects=before, stratum=stratum, **near)
            price = store_draw(inputs, table, "random", params)
    drawn = table[(table["origin"] == "random") & (table["stratum"] == stratum_name(stratum, pairs.rules))]
    probability = float(drawn["probability"].iloc[0])
    new = 0 if done else n
    return RandomResult(
        drawn=new,
        price=price,
        table=table,
        stratum=stratum,
        stratum_size=drawn_from(drawn),
        drawn_before=len(drawn) - new,
        probability=probability,
        universe=pairs.described,
    )


def draw_negatives(
    project: "Project",
    n: int = 5,
    *,
    min_rank: int | None = None,
    max_rank: int | None = None,
    keep_top: bool = False,
) -> NegativesResult:
    """Sample pairs that every model ranks low; see Project.draw_negatives."""
    from eds.project.pool_models import longest_list
    from eds.suspects import NegativeRule, WindowPairs
    from eds.suspects import draw_negatives as draw

    with project.writing("suspects.negatives"), project.progress("sampling", "queries") as progress:
        inputs = Inputs(project)
        models, images = generators(project, inputs=inputs), inputs.read("images")
        if not models:
            raise InputError(
                "no generator has lists",
                where=str(project.root / "neighbors"),
                hint="Only lists of generators count: eds models add MODEL --role generator, then eds neighbors mine.",
            )
        depth = min(longest_list(project, model) for model in models)
        end = min(DEEPEST, depth) if max_rank is None else max_rank
        first = min(NEAREST, end // 2) if min_rank is None else min_rank
        check_depth(project, models, end, f"sampling negatives up to rank {end} of the generators' lists")
        rule = NegativeRule(first, end, n, project.config.project.seed, exclude_top=not keep_top)
        rule.check()
        lists = WindowPairs.from_files([project.path("neighbors", model) for model in models], images, rule)
        table = draw(images, lists, inputs.suspects, read_decided(inputs), rule, progress=progress)
        params = {"n": n, "min_rank": first, "max_rank": end, "keep_top": keep_top or None}
        price = store_draw(inputs, table, "negatives", params)
    sizes = table[table["origin"] == "negative"].groupby("query_id").size()
    fewer = int((images["role"] != "candidate").sum()) - int((sizes >= n).sum())
    return NegativesResult(
        drawn=int(sizes.sum()),
        price=price,
        table=table,
        n=n,
        queries=len(sizes),
        queries_with_fewer=fewer,
        min_rank=first,
        max_rank=end,
    )


def draw_gold(project: "Project", file: str | Path, n: int) -> DrawResult:
    """Mix pairs whose label is known among the others; see Project.draw_gold."""
    from eds.suspects import draw_gold as draw

    with project.writing("suspects.gold"):
        inputs, pairs = Inputs(project), read_known_pairs(project, Path(file))
        table = draw(pairs, n, project.config.project.seed, inputs.suspects)
        price = store_draw(inputs, table, "gold", {"arguments": [str(file)], "n": n})
    return DrawResult(n, price, table)


def draw_repeats(project: "Project", n: int) -> DrawResult:
    """Choose pairs to be judged a second time; see Project.draw_repeats."""
    from eds.suspects import draw_repeats as draw

    with project.writing("suspects.repeats"):
        inputs = Inputs(project)
        table = draw(inputs.suspects, n, project.config.project.seed)
        price = store_draw(inputs, table, "repeats", {"n": n})
    return DrawResult(n, price, table)


def add_pairs(project: "Project", pairs: "str | Path | pd.DataFrame") -> DrawResult:
    """Add the pairs of a file or a frame; see Project.add_pairs."""
    from eds.suspects import add_pairs as add

    source = str(pairs) if isinstance(pairs, (str, Path)) else "pairs.csv"
    with project.writing("suspects.add"):
        inputs = Inputs(project)
        found = read_pairs(Path(pairs)) if isinstance(pairs, (str, Path)) else pairs
        table = add(known_pairs(project, found, source), inputs.suspects)
        price = store_draw(inputs, table, "add", {"arguments": [source]})
    return DrawResult(len(table) - len(inputs.suspects), price, table)


def reorder(project: "Project", *, order: str | None = None, batch: int | None = None) -> DrawResult:
    """Deal unjudged pairs of the pool into new batches; see Project.reorder."""
    from eds.suspects import Batching
    from eds.suspects import reorder as deal

    settings = project.config.suspects
    with project.writing("suspects.reorder"):
        inputs = Inputs(project)
        truth = read_decided(inputs)
        if truth is None:
            raise ProjectError("there are no decided labels yet", where=str(project.root), hint="Run eds truth decide.")
        before = inputs.suspects
        batching = Batching(order or settings.order, batch or settings.batch, project.config.project.seed, truth=truth)
        table = deal(before, truth, batching)
        moved = int((table["batch"].to_numpy() != before["batch"].to_numpy()).sum())
        price = price_of(project, 0)
        if moved:
            price = store_draw(inputs, table, "reorder", {"order": order, "batch": batch})
    return DrawResult(moved, price, table)


def add_model_pairs(project: "Project", model: str, *, k: int | None = None, n: int | None = None) -> ModelPairsResult:
    """Add the pairs whose judgement decides where a new model ranks; see Project.add_model_pairs."""
    from eds.project.pool_models import final_lists
    from eds.suspects import benchmark_labels, draw_delta

    with project.writing("suspects.add-model"):
        model = find_model(project, model)
        _check_model(project, model)
        depth = k or pool_depth(project) or project.config.suspects.k
        inputs = Inputs(project)
        truth, before = inputs.measured_pairs(), inputs.suspects
        lists = final_lists(inputs, [model], depth)
        judged, queries = (
            benchmark_labels(judged_pairs(inputs), suspects_and_withdrawn(inputs)),
            truth["query_id"].drop_duplicates(),
        )
        delta = draw_delta(
            lists, before, judged, queries, depth, n, project.config.project.seed, known=inputs.decided_pairs()
        )
        price = price_of(project, 0)
        if delta.chosen or delta.known:
            price = store_draw(inputs, delta.suspects, "add-model", {"arguments": [model], "k": k, "n": n})
    return ModelPairsResult(
        model=model,
        k=depth,
        pairs=delta.places,
        judged=delta.judged,
        waiting=delta.waiting,
        added=delta.chosen,
        labelled_at_random=delta.known,
        left=delta.left,
        judged_after=delta.judged_after,
        undecided=_undecided(inputs, model, depth, truth, lists),
        price=price,
        table=delta.suspects,
    )


def _check_model(project: "Project", model: str) -> None:
    known = sorted({*project.models("neighbors"), *project.models("embeddings")})
    if model not in known:
        raise InputError(
            f"no vectors or lists of model {model}",
            where=str(project.root),
            hint=(f"There are: {', '.join(known)}. " if known else "")
            + "Add a model with eds metrics score or eds embeddings; add the pairs of a file with eds suspects add.",
        )


def _undecided(inputs: Inputs, model: str, k: int, truth: "pd.DataFrame", lists: "pd.DataFrame") -> list[Undecided]:
    """Models whose comparison with this one the labels leave open, and the fewest labels that could decide it."""
    import pandas as pd

    from eds.analysis.label_bounds import intervals, least_to_decide, undecided_by_labels
    from eds.metrics import Measure
    from eds.metrics.judged_lists import judge, read_rankings
    from eds.pairs import LabelledPairs
    from eds.project.pool_models import final_lists, list_depth

    project = inputs.project
    others = [name for name in project.models("neighbors") if name != model and list_depth(project, name) >= k]
    if not others:
        return []
    labelled = LabelledPairs.from_frame(truth)
    every = pd.concat([lists, final_lists(inputs, others, k)], ignore_index=True)
    low, high = intervals(judge(read_rankings(every), None, labelled), Measure("VSD-HR", k))
    step = 1 / (k * max(int((labelled.positives > 0).sum()), 1))
    return [
        Undecided(other, least_to_decide((low[model], high[model]), (low[other], high[other]), step))
        for pair in undecided_by_labels(low, high)
        if model in pair
        for other in pair
        if other != model
    ]


def _was_done(project: "Project", verb: str, params: Mapping[str, Any]) -> bool:
    """Whether the pool's provenance has this draw with these parameters: typed again, a command goes on, no more."""
    wanted = {name: value for name, value in params.items() if value is not None}
    return project.path("suspects").exists() and any(
        one.name == f"suspects.{verb}"
        and {key: value for key, value in one.params.items() if value is not None} == wanted
        for one in suspects_provenance(project).operations
    )


def store_draw(inputs: Inputs, table: "pd.DataFrame", verb: str, params: Mapping[str, Any]) -> "Price":
    """Write the table of suspects, if its price is agreed to, with its provenance, to which this operation is added."""
    from eds.tables import Operation

    project, price = inputs.project, price_of_suspects(inputs, table)
    project.agree(price)
    operation = f"suspects.{verb}"
    if project.path("suspects").exists():
        made_by = suspects_provenance(project)
        made_by = replace(made_by, later=(*made_by.later, Operation(operation, params)))
    else:
        made_by = project.provenance(operation, {}, [], params=params)
    write_suspects(inputs, table, made_by, Operation(operation, params))
    return price


def read_pairs(file: Path) -> "pd.DataFrame":
    """A file of pairs: Parquet, or CSV as text (`value` as a number)."""
    import pandas as pd

    from eds.io.reading import reading

    with reading(file, hint="Give CSV or Parquet."):
        if file.suffix.lower() == ".parquet":
            return pd.read_parquet(file)
        pairs = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    if "value" in pairs.columns:
        pairs["value"] = pd.to_numeric(pairs["value"], errors="coerce")
    return pairs


def read_known_pairs(project: "Project", file: Path) -> "pd.DataFrame":
    """A file of pairs; InputError if an image is not in the catalogue."""
    return known_pairs(project, read_pairs(file), str(file))


def known_pairs(project: "Project", pairs: "pd.DataFrame", where: str) -> "pd.DataFrame":
    """The pairs; InputError if an image is not in the catalogue, because nobody could judge it."""
    if not project.path("images").exists():
        return pairs
    images = project.read("images", columns=["image_id"])["image_id"]
    faults = []
    for name in PAIR if set(PAIR) <= set(pairs.columns) else ():
        unknown = pairs.loc[~pairs[name].isin(images), name].unique()
        if len(unknown):
            more = ", …" if len(unknown) > 3 else ""
            faults.append(f"{name}: {len(unknown):,} unknown: {', '.join(map(str, unknown[:3]))}{more}")
    if faults:
        raise InputError(
            "pairs of images that are not in table images", where=where, hint="Correct the ids.", faults=faults
        )
    return pairs
