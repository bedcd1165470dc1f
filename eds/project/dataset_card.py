"""What an export's card tells: the curator's words, and what truth and analysis find in the project."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError

if TYPE_CHECKING:
    from eds.benchmarks import Benchmark
    from eds.benchmarks.card import Card
    from eds.project import Project

COEFFICIENTS = {"percent_agreement": "Share of agreeing pairs of votes", "krippendorff_alpha": "Krippendorff's alpha",
                "gwet_ac1": "Gwet's AC1", "fleiss_kappa": "Fleiss' kappa"}  # fmt: skip


def card_of(project: "Project", benchmark: "Benchmark", kept: Any, words: dict[str, str]) -> "Card":
    """The card; `words` are what the curator says, `kept` the labels (eds.project.decide), if any."""
    from eds.benchmarks.card import Card

    told = {
        "Motivation": [words["motivation"]] if words["motivation"] else [],
        "Collection": [*([words["collection"]] if words["collection"] else []), *_collection(project, benchmark)],
        "Experts": _experts(benchmark),
        "Agreement": _agreement(project, kept),
        "Recall": _recall(benchmark),
        "Known bias": _bias(benchmark),
    }
    return Card(
        words["name"] or project.config.project.name, words["licence"], words["release"] or "1.0.0",
        datetime.now(UTC).date().isoformat(), words["address"], words["citation"], told,
    )  # fmt: skip


def _collection(project: "Project", benchmark: "Benchmark") -> list[str]:
    found = []
    for table in ("images", "suspects", "truth"):
        state = project.state(table)
        if state.condition == "stale":
            found.append(f"Table {table} is stale: {'; '.join(state.reasons)}.")
        elif state.made_by:
            found.append(f"Table {table} was made by: {state.made_by}.")
    if benchmark.truth is not None and len(benchmark.truth):
        rules = ", ".join(sorted(benchmark.truth["rule"].unique()))
        found.append(f"Labels were decided by: {rules}. Ties are negative.")
    return found


def _experts(benchmark: "Benchmark") -> list[str]:
    votes = benchmark.votes
    if votes is None or not len(votes):
        return []
    pairs = votes[["query_id", "candidate_id"]].drop_duplicates()
    found = [f"{votes['expert_id'].nunique()} experts gave {len(votes):,} votes on {len(pairs):,} pairs, "
             f"{len(votes) / len(pairs):.2f} a pair; {int(votes['value'].isna().sum()):,} could not tell."]  # fmt: skip
    seconds = votes["seconds"].dropna()
    if len(seconds):
        found.append(f"They judged for {seconds.sum() / 3600:,.1f} hours, {seconds.median():.1f} s a pair (median).")
    versions = sorted(one for one in votes["guideline"].dropna().unique() if one)
    if versions:
        found.append(f"Versions of the guideline: {', '.join(versions)}.")
    return found


def _agreement(project: "Project", kept: Any) -> list[str]:
    from eds.truth import panel_agreement

    if kept is None or not len(kept.labels):
        return []
    try:
        found = panel_agreement(
            kept.labels, early_stop=kept.early_stop, control=kept.control, seed=project.config.project.seed
        )
    except EdsError as error:
        return [f"Cannot be computed: {error}"]
    rows = found.coefficients[found.coefficients["value"].notna()].to_dict(orient="records")
    on = "control pairs" if found.control else "pairs"
    return [
        f"{COEFFICIENTS[str(row['coefficient'])]}: {row['value']:.3f} (95%: {row['low']:.3f} to {row['high']:.3f}), "
        f"{found.pairable:,} {on} judged by two or more."
        for row in rows
    ]


def _recall(benchmark: "Benchmark") -> list[str]:
    if benchmark.images is None or benchmark.suspects is None or benchmark.truth is None or not len(benchmark.truth):
        return []
    from eds.analysis.pool_report import pool_report

    try:
        report = pool_report(benchmark.images, benchmark.suspects, benchmark.truth)
    except EdsError as error:
        return [f"Cannot be computed: {error}"]
    pool, recall = report["pool"], report["recall"]
    found = [f"The pool holds {pool['pairs']:,} of {report['pairs']:,} pairs; {pool['labelled']:,} are labelled, "
             f"{pool['positive']:,} of them similar."]  # fmt: skip
    if recall is None:
        found.append("How many similar pairs lie outside the pool is not known: no pairs were drawn from outside.")
    else:
        told = ", ".join(f"{name} {value:.3f}" for name, value in recall.items() if isinstance(value, float))
        found.append(f"Recall of the pool, from pairs drawn outside it: {told}.")
    return found


def _bias(benchmark: "Benchmark") -> list[str]:
    if benchmark.suspects is None or not len(benchmark.suspects):
        return []
    from eds.suspects import sources_frame

    models = sorted(sources_frame(benchmark.suspects)["model"].unique())
    if not models:
        return ["Which model proposed which pair is not known; models that did not propose find pairs nobody judged."]
    return [f"Pairs were proposed by {', '.join(models)}. These generators find judged pairs more often than any other "
            "model: measures of retrieval favour them (compare measures of labelled pairs, as ROC-AUC)."]  # fmt: skip
