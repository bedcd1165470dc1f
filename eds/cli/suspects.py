"""`eds suspects`: choose the pairs that experts judge."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import executor_option, explain_option, models_option, one_of, spending
from eds.cli.render import count, format_rate, format_share, format_table
from eds.registry import SAMPLING_ORDERS

if TYPE_CHECKING:
    from eds.project.draw import DrawResult, ModelPairsResult, NegativesResult, RandomResult
    from eds.project.draw_design import DesignResult
    from eds.project.image_pairs import ImagePairsResult
    from eds.project.pair_origin import PairOriginResult
    from eds.project.pool import GrowthResult, PoolResult, SuspectsResult
    from eds.project.promise import PromiseResult

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
order_option = click.option("--order", type=one_of(SAMPLING_ORDERS), help="Order of judging (default: eds.toml).")
batch_option = click.option("--batch", type=click.IntRange(1), help="Pairs in a batch (default: eds.toml).")
count_option = click.option("-n", "n", type=click.IntRange(1), required=True, help="Number of pairs to draw.")


@click.group()
def suspects() -> None:
    """Choose the pairs that experts judge."""


@command(suspects, "pool", example="eds suspects pool -k 6 --order random")
@click.option("-k", "k", type=click.IntRange(1), help="Candidates from each list (default: eds.toml).")
@models_option
@order_option
@batch_option
@click.option(
    "--symmetric", type=one_of(choices.PairDirections), default="keep", help="Judge (q, c) and (c, q) both, or one."
)
@click.option(
    "--keep-ties/--no-keep-ties", default=None, help="Take ties at rank k whole (default for codes), or cut by id."
)
@executor_option
@explain_option
@spending
def pool(console: Console, explain: bool, **options: Any) -> None:
    """Pool the models' lists, each pair once.

    Pairs that were chosen before keep their place; new pairs are added behind them.
    """
    console.show(console.project.pool(**options), partial(render_pool, explain=explain))


@command(suspects, "random", example="eds suspects random -n 500 --stratum outside")
@count_option
@click.option(
    "--stratum",
    type=one_of(choices.Stratum),
    default="all",
    help="Pairs to draw from; see above.",
)
@click.option("--min-rank", type=click.IntRange(0), help="First near rank, from 0 (default: k of the pool).")
@click.option("--max-rank", type=click.IntRange(1), default=100, help="End of the near ranks, not included.")
@click.option(
    "--universe", type=one_of(choices.UniverseChoice), help="Pairs that lists may hold, or all (default: eds.toml)."
)
@click.option("--add", is_flag=True, help="Draw further pairs, though this draw was made before.")
@spending
def random(console: Console, **options: Any) -> None:
    """Draw uniform random pairs, as one batch.

    Every pair has a known probability. Strata: all pairs; those outside the pool; those near it, from --min-rank to
    before --max-rank of some list; and the rest, outside and not near. The same command again draws no further pairs,
    unless --add is given.
    """
    console.show(console.project.draw_random(**options), render_random)


@command(suspects, "draw", example="eds suspects draw -n 500 --design weighted")
@count_option
@click.option(
    "--design", type=one_of(choices.DrawDesign), help="How pairs are drawn (default: weighted from 200 labels on)."
)
@spending
def draw(console: Console, **options: Any) -> None:
    """Draw random pairs by a design, as one batch.

    Every pair has a known probability. uniform: all pairs alike. strata: pairs near the pool, and the rest, spread so
    that the estimate is most certain. weighted: outside the pool, more where further labels are most informative, a
    fifth of them uniform. Weighted draws may follow any others; all count in one estimate of p and recall.
    """
    console.show(console.project.draw(**options), render_design)


@command(suspects, "promise", example="eds suspects promise --share 0.9", reads=True)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    help="Share of all similar pairs that the pool must hold.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    help="Confidence level of the promise.",
)
def promise(console: Console, **options: Any) -> None:
    """Show how deep to judge to hold a share of all positives.

    Rests on the labelled random draws: with this confidence, the pool of that depth holds so many of the similar
    pairs. The confidence is that of one look: say beforehand how many draws are to be judged.
    """
    console.show(console.project.promise_recall(**options), render_promise)


@command(suspects, "negatives", example="eds suspects negatives --min-rank 100 --max-rank 500 -n 5")
@click.option("-n", "n", type=click.IntRange(1), default=5, help="Negatives for each query.")
@click.option("--min-rank", type=click.IntRange(0), help="First rank, from 0 (default: 100, or half of the lists).")
@click.option(
    "--max-rank", type=click.IntRange(1), help="End of the ranks, not included (default: 500, or the lists')."
)
@click.option("--keep-top", is_flag=True, help="Allow candidates that some generator ranks higher.")
@spending
def negatives(console: Console, **options: Any) -> None:
    """Sample pairs that every generator ranks low.

    Lists of evaluated models do not count. Negatives that were sampled before are replaced.
    """
    console.show(console.project.draw_negatives(**options), render_negatives)


@command(suspects, "add", example="eds suspects add pairs.csv")
@click.argument("file", type=FILE)
@spending
def add(console: Console, file: Path) -> None:
    """Add pairs of your own choice.

    The file is CSV or Parquet, with columns query_id and candidate_id.
    """
    console.show(console.project.add_pairs(file), render_drawn("Added {}.", "pair"))


@command(suspects, "add-images", example="eds suspects add-images a.jpg b.jpg c.jpg --partners each-other")
@click.argument("images", nargs=-1, required=True)
@click.option(
    "--partners",
    type=one_of(choices.ImagePartners),
    default="lists",
    help="Candidates of the models' lists, or the images themselves.",
)
@click.option("-k", "k", type=click.IntRange(1), help="Candidates from each list (default: eds.toml).")
@spending
def add_images(console: Console, **options: Any) -> None:
    """Add the pairs of chosen images.

    Each query among IMAGES is paired with its first candidates, or with every other chosen image.
    """
    console.show(console.project.add_image_pairs(**options), render_image_pairs)


@command(suspects, "origin", example="eds suspects origin a.jpg b.jpg", reads=True)
@click.argument("query")
@click.argument("candidate")
def origin(console: Console, **options: Any) -> None:
    """Say which models proposed a pair, and its label."""
    console.show(console.project.pair_origin(**options), render_origin)


def render_image_pairs(result: "ImagePairsResult") -> str:
    """How many pairs were added."""
    return (
        f"Added {result.added:,} of {len(result.pairs):,} pairs of {result.queries:,} queries among "
        f"{result.images:,} images: {result.price.cost}."
    )


def render_origin(result: "PairOriginResult") -> str:
    """The pair's state, then a row per model."""
    state = f"chosen as {', '.join(result.origins)}" if result.origins else "no suspect"
    votes = (
        f" ({result.votes_for} for, {result.votes_against} against)" if result.votes_for + result.votes_against else ""
    )
    head = f"{result.query_id} and {result.candidate_id}: {result.label}{votes}; {state}."
    rows = result.models.to_dict("records")
    if not rows:
        return f"{head}\nNo model has lists."
    return f"{head}\n\n" + format_table(
        ["model", "rank", "score", "candidates listed", "proposed it"],
        [[row["model"], row["rank"], row["score"], row["listed"], "yes" if row["proposed"] else ""] for row in rows],
    )


@command(suspects, "add-model", example="eds suspects add-model clip -n 200")
@click.argument("model")
@click.option("-k", "k", type=click.IntRange(1), help="Ranks that count (default: k of the pool).")
@click.option("-n", "n", type=click.IntRange(1), help="Maximum number of pairs (default: all).")
@spending
def add_model(console: Console, **options: Any) -> None:
    """Add unjudged pairs that decide where a new model ranks.

    These are the pairs among its first k candidates that nobody has judged, those of the first ranks first.
    """
    console.show(console.project.add_model_pairs(**options), render_model_pairs)


@command(suspects, "gold", example="eds suspects gold known.csv -n 50")
@click.argument("file", type=FILE)
@count_option
@spending
def gold(console: Console, **options: Any) -> None:
    """Mix in pairs with known labels.

    The file is CSV or Parquet, with columns query_id, candidate_id and value.
    """
    console.show(console.project.draw_gold(**options), render_drawn("Mixed {} among the pool's.", "gold pair"))


@command(suspects, "repeats", example="eds suspects repeats -n 100")
@count_option
@spending
def repeats(console: Console, n: int) -> None:
    """Have randomly chosen pairs judged a second time, later."""
    console.show(console.project.draw_repeats(n), render_drawn("Mixed {} among the pairs.", "repeat"))


@command(suspects, "reorder", example="eds suspects reorder --order learned")
@order_option
@batch_option
def reorder(console: Console, **options: Any) -> None:
    """Deal unjudged pairs of the pool into new batches.

    Orders that learn from the labels decided so far: bandit, of the models that were right most often; learned, likely
    similar pairs first, for curation; contrast, pairs that tell models apart first, for comparison.
    """
    console.show(console.project.reorder(**options), render_drawn("Dealt {} into new batches.", "pair"))


@command(suspects, "list", example="eds suspects list --json", reads=True)
def list_(console: Console) -> None:
    """Count pairs and batches by origin and stratum."""
    console.show(console.project.suspects(), render_suspects)


@command(suspects, "growth", example="eds suspects growth --k-max 20", reads=True)
@click.option("--k-max", type=click.IntRange(1), help="Largest k (default: 20, or the lists' depth).")
@models_option
def growth(console: Console, **options: Any) -> None:
    """Show the pool's size at each k.

    With labels, the positives at each rank, too.
    """
    console.show(console.project.pool_growth(**options), render_growth)


def render_pool(result: "PoolResult", *, explain: bool) -> str:
    """The size of the pool at each depth, then what must be known about it."""
    rows = result.growth.assign(pool=result.growth["k"].eq(result.k).map({True: "*", False: ""}))
    batches = "batch" if result.batches == 1 else "batches"
    lines = [
        format_table(["k", "pairs", "new pairs", ""], rows.to_numpy().tolist()),
        f"* The pool: {result.size:,} pairs in {result.batches:,} {batches}, {result.new:,} of them new; order "
        f"{result.order}.{f' Universe: {result.universe.text}.' if result.universe else ''}",
    ]
    if result.price.judgements:
        asked = result.new - result.price.pairs
        known = f", without {asked:,} asked already, drawn at random or for another reason" if asked > 0 else ""
        lines.append(f"To judge the new ones{known}: {result.price.cost}.")
    if result.left:
        lines.append(
            f"{count(result.left, 'pair')} left the pool and the queues. Votes and labels of the judged ones "
            f"({result.left_judged:,}) stay, but no longer count as the pool. A larger -k takes them back."
        )
    if result.dropped_models:
        lines.append(f"Pairs proposed only by {', '.join(result.dropped_models)}, which is not pooled now, are kept.")
    lines += [
        f"The lists of {model} are stale ({'; '.join(why)}): run eds neighbors mine, or leave it out with --models."
        for model, why in result.stale_lists.items()
    ]
    return "\n".join([*lines, *(_explain_pool(result) if explain else [])])


def _explain_pool(result: "PoolResult") -> list[str]:
    shared = result.overlap
    lines = [
        "",
        f"{shared['raw']:,} proposals, {shared['unique']:,} different pairs: duplication "
        f"{format_share(shared['duplication_rate'])}, mean overlap of two models "
        f"{format_share(shared['mean_pairwise_overlap'])}.",
        f"{result.symmetric_pairs:,} pairs are in the pool both ways (rule: {result.symmetric})"
        + (f"; {result.symmetric_dropped:,} are represented by their mirror." if result.symmetric_dropped else "."),
    ]
    if result.whole_ties:
        lines.append(
            f"Ties at rank {result.k} are whole for {', '.join(result.whole_ties)}; tied candidates share the rank of "
            "the first (--no-keep-ties cuts by id)."
        )
    lines += ["", format_table(("model", "pairs proposed by no other model"), list(shared["unique_by_model"].items()))]
    if result.cost:
        from eds.cli.render_budget import render_plans

        lines += ["", render_plans(result.cost)]
    return lines


def render_random(result: "RandomResult") -> str:
    """What was drawn, of how many."""
    total = result.drawn_before + result.drawn
    if not result.drawn:
        return (
            f"This draw was made before: {total:,} of the {result.stratum_size:,} pairs of stratum {result.stratum} "
            "are drawn. --add draws further ones."
        )
    return with_price(
        result,
        f"Drew {result.drawn:,} pairs of stratum {result.stratum}; {total:,} of its {result.stratum_size:,} pairs are "
        f"drawn now, each with probability {result.probability:.3g}. Universe: {result.universe.text}.",
    )


def render_design(result: "DesignResult") -> str:
    """What was drawn, by which design, and why."""
    parts = ", ".join(f"{name} {count:,}" for name, count in result.drawn_by_stratum.items())
    learned = f" Learned from {result.labels:,} labels" if result.labels else ""
    if learned and result.auc is not None:
        learned += f" (ROC-AUC on labels not seen: {result.auc:.2f})"
    text = f"Drew {result.drawn:,} pairs, design {result.design} ({result.why}): {parts}.{learned and learned + '.'}"
    return with_price(result, f"{text} Universe: {result.universe.text}.")


def render_promise(result: "PromiseResult") -> str:
    """The depths around the one that keeps the promise, then what to do and its price."""
    table = result.by_depth
    largest = table["depth"].iloc[int(table["units"].to_numpy().argmax())]  # deeper lists add nothing
    chosen = table["depth"].isin([result.depth_now, result.depth, largest])
    kept = chosen | ((table["depth"] % 10 == 0) & (table["depth"] < largest))
    rows = [
        [
            *(row[name] for name in ("depth", "units", "further")),
            format_share(row["recall"]),
            format_share(row["low"]),
            "*" if row["depth"] == result.depth else "",
        ]
        for row in table[kept].to_dict(orient="records")
    ]
    lines = [format_table(["k", "pairs", "further", "recall", f"at least ({100 * result.confidence:g} %)", ""], rows)]
    lines.append(result.next)
    if result.price is not None and result.price.judgements:
        lines.append(f"Its price: {result.price.cost}.")
    return "\n".join([*lines, f"Universe: {result.universe}."])


def render_negatives(result: "NegativesResult") -> str:
    """What was drawn, and for how many queries."""
    few = f"; {count(result.queries_with_fewer, 'query', 'queries')} had fewer than {result.n}"
    ranks = f"{result.min_rank:,} to {result.max_rank - 1:,}"
    return with_price(
        result,
        f"Sampled {count(result.drawn, 'negative')} of {count(result.queries, 'query', 'queries')} at ranks {ranks} "
        f"of the generators' lists{few if result.queries_with_fewer else ''}.",
    )


def render_drawn(sentence: str, noun: str) -> "Callable[[DrawResult], str]":
    """A function that puts the number of drawn pairs, as `noun`, into the sentence."""
    return lambda result: with_price(result, sentence.format(count(result.drawn, noun)))


def with_price(result: "DrawResult", text: str) -> str:
    """The text, then what the pairs cost that were added."""
    return f"{text}\nTo judge them: {result.price.cost}." if result.price.judgements else text


def render_model_pairs(result: "ModelPairsResult") -> str:
    """What was added, what it decides and costs, and what to do next."""
    share = result.judged / result.pairs if result.pairs else float("nan")
    waiting = f"; {result.waiting:,} wait among the suspects" if result.waiting else ""
    lines = [
        f"Of the first {result.k} candidates of {result.model}, {result.judged:,} of {result.pairs:,} are judged "
        f"({format_share(share)}){waiting}."
    ]
    if result.labelled_at_random:
        lines.append(f"{result.labelled_at_random:,} have a label as random pairs; it counts from now on.")
    if result.added:
        left = f"; {result.left:,} more are unjudged" if result.left else ""
        lines.append(
            f"Added {result.added:,} unjudged pairs, the first ranks first{left}. When they are judged, "
            f"{format_share(result.judged_after)} are."
        )
        for other in result.undecided:
            least = "labels cannot decide" if other.least is None else f"at least {other.least:,} labels decide"
            lines.append(f"Undecided against {other.model} by VSD-HR@{result.k}: {least}.")
        lines.append(f"To judge them: {result.price.cost}.")
    else:
        lines.append("No further pair needs a label.")
    if result.added or result.waiting:
        lines.append("Next: eds labels campaigns add NAME --undecided --expert EXPERT, then eds truth decide.")
    return "\n".join(lines)


def render_suspects(result: "SuspectsResult") -> str:
    """The table by origin and stratum."""
    table = result.by_origin
    headings = [name.replace("_", " ") for name in table.columns]
    return format_table(headings, table.to_numpy().tolist())


def render_growth(result: "GrowthResult") -> str:
    """The table by depth, with labels also the share of similar pairs at the deepest rank."""
    headings = ["k", "pairs", "new pairs"]
    rows = [[row["k"], row["size"], row["new"]] for row in result.growth.to_dict(orient="records")]
    if result.positive_rate_by_rank is not None:
        headings += ["labelled at this rank", "similar", "rate"]
        rates = result.growth.to_dict(orient="records")
        rows = [
            [*row, rate["labelled"], rate["positive"], format_rate(rate)] for row, rate in zip(rows, rates, strict=True)
        ]
    return format_table(headings, rows)
