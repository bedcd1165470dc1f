"""What the measures and analyses start from: every model's ranks and scores of the pairs at hand.

Embeddings come first. Where a measure looks at whole rankings, the full rank of each pair is counted: no list is cut,
no row is sorted. Where none looks deeper than k places, lists of k are mined, which is cheaper and gives the same
numbers. A model that has lists but no vectors is taken from its lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError, ProjectError
from eds.project.executor import open_executor
from eds.project.inputs import PAIR, Inputs

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from eds.neighbors import Rules
    from eds.pairs import KnownRanks
    from eds.parallel import Executor
    from eds.project import Project
    from eds.vectors import Vectors

    Places = tuple[NDArray[np.int64], NDArray[np.int64]]

WORDS = {"embeddings": "vectors", "neighbors": "lists"}


@dataclass
class Evidence:
    """Frames as eds.metrics.evaluate takes them, and what was left out on the way."""

    placed: "KnownRanks | None" = None
    own: "KnownRanks | None" = None
    rankings: "pd.DataFrame | None" = None
    heads: "pd.DataFrame | None" = None  # first places of lists, beside `placed`
    scores: "pd.DataFrame | None" = None
    sources: dict[str, str] = field(default_factory=dict)  # by model: embeddings or neighbors
    notes: dict[str, list[str]] = field(default_factory=dict)  # by model


def official_rules(project: "Project") -> "Rules":
    """The rules of the project's lists; how deep they are plays no part for ranks."""
    from eds.neighbors import Rules

    settings = project.config.neighbors
    category: Any = settings.category
    return Rules(
        1, exclude_product=settings.exclude_product, one_per_product=settings.one_per_product, category=category
    )


def choose_models(project: "Project", wanted: Sequence[str], source: str = "auto") -> dict[str, str]:
    """By model where it is taken from: embeddings if it has any (and `source` allows them), else neighbors."""
    from eds.project.models import find_models

    wanted = find_models(project, wanted)
    there = {kind: project.models(kind) for kind in ("embeddings", "neighbors")}
    serve = {kind: names for kind, names in there.items() if source in ("auto", kind)}
    known = {name: kind for kind in reversed(serve) for name in serve[kind]}  # vectors last: they count first
    known = dict(sorted(known.items()))
    unknown = [name for name in wanted if name not in known]
    if unknown or not known:
        words = " or ".join(WORDS[kind] for kind in serve)
        other = [f"{WORDS[kind]} of {', '.join(names)}" for kind, names in there.items() if kind not in serve and names]
        raise ProjectError(
            f"no {words} of model {', '.join(unknown)}" if unknown else f"no model has {words} yet",
            where=str(project.root),
            hint=f"Bring vectors (eds embeddings)"
            f"{' or mine lists (eds neighbors mine)' if 'neighbors' in serve else ''}."
            f" There are: {', '.join(known) or 'none'}"
            + (f"; {' and '.join(other)} do not serve here." if other else "."),
        )
    return {name: known[name] for name in sorted(set(wanted))} if wanted else known


@dataclass(frozen=True)
class Needs:
    """What measures need: ranks, scores, first places of lists."""

    lists: bool = True
    depth: int | None = None  # places of the lists that are looked at; None: whole lists, as ranks of the pairs
    heads: int = 0  # beside ranks: first places of lists, which tell what keeps positives out of them
    other_pairs: "pd.DataFrame | None" = None  # beside the pairs at hand: others whose ranks are needed
    scores: bool = True
    products: bool = False  # ranks of the pairs of one product, in lists that keep it


def gather(
    inputs: Inputs,
    models: dict[str, str],
    images: "pd.DataFrame",
    pairs: "pd.DataFrame",
    needs: Needs,
    *,
    allow_missing: bool = False,
) -> Evidence:
    """Return ranks and scores of the pairs (query_id, candidate_id) by every model.

    Pairs whose first image is not a query or whose second is not a candidate get neither: the measures count them.
    """
    import pandas as pd

    from eds.metrics.product_retrieval import own_pairs
    from eds.pairs import KnownRanks

    project = inputs.project
    rules = official_rules(project)
    with_vectors = [name for name, source in models.items() if source == "embeddings"]
    vectors_of = open_vectors(project, with_vectors, images, allow_missing=allow_missing, inputs=inputs)
    evidence = Evidence(sources=dict(models))
    parts: dict[str, list[pd.DataFrame]] = {
        name: [] for name in ("places", "lengths", "own", "own lengths", "scores", "rankings", "heads")
    }
    with open_executor(project, "ranks") as executor:
        for name, source in models.items():
            if source == "neighbors":
                _from_lists(project, name, pairs, needs, parts)
                evidence.notes[name] = ["taken from its lists: pairs that are not in them have no score"]
                continue
            vectors, known = vectors_of[name]
            evidence.notes[name] = []
            if len(known) < len(images):
                evidence.notes[name].append(f"images without a vector left out: {len(images) - len(known)}")
            asked, at = select_pairs(pairs, known)
            if needs.scores:
                parts["scores"].append(_scored(name, vectors, known, asked, at))
            if needs.lists and needs.depth is not None:
                _mined(project, name, vectors, known, replace(rules, k=needs.depth), parts["rankings"])
            elif needs.lists:
                more = asked
                if needs.other_pairs is not None:
                    more = select_pairs(pd.concat([asked, needs.other_pairs[PAIR]]), known)[0]
                _ranked(project, name, vectors, known, more, rules, parts, ("places", "lengths"), executor)
                if needs.heads:
                    _mined(project, name, vectors, known, replace(rules, k=needs.heads), parts["heads"])
            if needs.products:
                kept = replace(rules, exclude_product=False, one_per_product=False)
                _ranked(project, name, vectors, known, own_pairs(known), kept, parts, ("own", "own lengths"), executor)
    joined = {name: pd.concat(part, ignore_index=True) if part else None for name, part in parts.items()}
    places, lengths, own, own_lengths = (joined[name] for name in ("places", "lengths", "own", "own lengths"))
    if places is not None and lengths is not None:
        evidence.placed = KnownRanks.from_frames(places, lengths)
    if own is not None and own_lengths is not None:
        evidence.own = KnownRanks.from_frames(own, own_lengths)
    evidence.rankings, evidence.scores, evidence.heads = joined["rankings"], joined["scores"], joined["heads"]
    return evidence


def open_vectors(
    project: "Project",
    names: Sequence[str],
    images: "pd.DataFrame",
    *,
    allow_missing: bool,
    inputs: "Inputs | None" = None,
) -> "dict[str, tuple[Vectors, pd.DataFrame]]":
    """Return by model its vectors and the images that have one; refuse with all that is damaged, stale or missing."""
    from eds.vectors import Vectors

    opened: dict[str, tuple[Vectors, pd.DataFrame]] = {}
    faults = []
    for name in names:
        faults += [f"{name}: {why}" for why in project.state("embeddings", name).reasons]
        try:
            vectors = inputs.vectors(name) if inputs else Vectors.open(project.path("embeddings", name))
        except EdsError as error:
            faults.append(f"{name}: {error}")
            continue
        has = find_known(images["image_id"], vectors.id_column)
        if not has.all() and not allow_missing:
            lacking = images.loc[~has, "image_id"]
            faults.append(f"{name}: {len(lacking):,} images have no vector: {', '.join(lacking[:3])}")
        opened[name] = vectors, images if has.all() else images[has]
    if faults:
        raise ProjectError(
            "vectors are stale, damaged or not complete",
            where=str(project.root / "embeddings"),
            hint="Bring them up to date (eds embeddings), leave the model out (--model), or leave out the images that a"
            " model has no vector of, which are then counted: --allow-missing.",
            faults=faults,
        )
    return opened


def find_known(names: "pd.Series[str]", known: Any) -> "NDArray[np.bool_]":
    """Which of the names, (n,) bool, are among the known ones; pandas' isin takes ten times as long on text."""
    import numpy as np
    import pyarrow.compute as pc

    from eds.pairs import to_text

    wanted, there = to_text(names), to_text(known)
    if wanted.null_count == 0 and wanted.equals(there):  # as a rule: every image has a vector
        return np.ones(len(wanted), dtype=bool)
    mask: NDArray[np.bool_] = pc.is_in(wanted, value_set=there).to_numpy(zero_copy_only=False)
    return mask


def select_pairs(pairs: "pd.DataFrame", images: "pd.DataFrame") -> "tuple[pd.DataFrame, Places]":
    """The pairs, each once, of a query with a candidate; and the places of both among the images, (pairs,) int64."""
    import numpy as np
    import pandas as pd

    from eds.pairs import encode, to_text

    names = to_text(images["image_id"])
    query, candidate = (encode(pairs[column], names) for column in PAIR)
    known = np.flatnonzero((query >= 0) & (candidate >= 0) & (query != candidate))
    again = pd.Series(query[known] * len(names) + candidate[known]).duplicated().to_numpy()
    known = known[~again]
    asks, offered = ((images["role"] != other).to_numpy(dtype=bool) for other in ("candidate", "query"))
    rows = known[asks[query[known]] & offered[candidate[known]]]
    return pairs[PAIR].take(rows).reset_index(drop=True), (query[rows], candidate[rows])


def _scored(
    name: str, vectors: "Vectors", images: "pd.DataFrame", pairs: "pd.DataFrame", at: "Places"
) -> "pd.DataFrame":
    """The exact scores of the pairs, as in lists."""
    from eds.neighbors.ranks import row_scores
    from eds.pairs import to_text

    names = to_text(images["image_id"])
    if not names.equals(vectors.id_column):
        rows = vectors.rows_of(names)
        at = rows[at[0]], rows[at[1]]
    scored: pd.DataFrame = pairs.assign(model=name, score=row_scores(vectors, *at))
    return scored


def _ranked(
    project: "Project",
    name: str,
    vectors: "Vectors",
    images: "pd.DataFrame",
    pairs: "pd.DataFrame",
    rules: "Rules",
    parts: "dict[str, list[pd.DataFrame]]",
    into: tuple[str, str],
    executor: "Executor | None",
) -> None:
    import pandas as pd

    from eds.neighbors import pair_ranks
    from eds.neighbors.rules import list_lengths

    with project.progress(f"ranking by {name}", "parts" if executor else "vectors") as progress:
        within = executor.within(f"{into[0]}-{name}") if executor else None
        ranks = pair_ranks(vectors, images, pairs, rules, executor=within, progress=progress)
    parts[into[0]].append(pairs.assign(model=name, rank=ranks))
    asked = images.loc[images["role"] != "candidate", "image_id"].reset_index(drop=True)
    lengths = list_lengths(images, asked, rules)
    parts[into[1]].append(pd.DataFrame({"model": name, "query_id": asked, "length": lengths}))


def _mined(
    project: "Project",
    name: str,
    vectors: "Vectors",
    images: "pd.DataFrame",
    rules: "Rules",
    into: "list[pd.DataFrame]",
) -> None:
    from eds.neighbors.mine import mine

    with project.progress(f"ranking by {name}", "vectors") as progress:
        into.append(mine(vectors, images, rules, progress=progress).assign(model=name))


def _from_lists(
    project: "Project", name: str, pairs: "pd.DataFrame", needs: Needs, parts: "dict[str, list[pd.DataFrame]]"
) -> None:
    """The first places of a model's lists, all where measures look at whole rankings, and the scores of the pairs."""
    import pandas as pd

    from eds import tables
    from eds.pairs import in_sorted, pair_keys, sort_unique, to_text

    queries, candidates = (to_text(pairs[column].drop_duplicates()) for column in PAIR)
    wanted = sort_unique(pair_keys(pairs, queries, candidates))
    heads, scored = [tables.NEIGHBORS.empty()], [tables.NEIGHBORS.empty()]
    for part in tables.read_parts(project.path("neighbors", name), tables.NEIGHBORS, tables.NEIGHBORS.names):
        heads.append(part if needs.depth is None else part[part["rank"] < needs.depth])
        keys = pair_keys(part, queries, candidates)
        scored.append(part[(keys >= 0) & in_sorted(wanted, keys)])
    parts["rankings"].append(pd.concat(heads, ignore_index=True))
    parts["scores"].append(pd.concat(scored, ignore_index=True)[["model", *PAIR, "score"]])
