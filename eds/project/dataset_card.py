"""The card of an export: the curator's words, and facts that truth and analysis find in the project."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from eds.errors import EdsError
from eds.project.agreement import COEFFICIENTS
from eds.project.inputs import Inputs
from eds.project.prevalence import project_prevalence

if TYPE_CHECKING:
    from eds.benchmarks.benchmark import Benchmark
    from eds.benchmarks.card import Card
    from eds.project import Project
    from eds.project.decide import Votes


@dataclass(frozen=True)
class CardText:
    """The curator's words on the card; empty ones are not stated."""

    name: str = ""  # default: the project's name
    licence: str = ""
    release: str = ""  # default: 1.0.0
    motivation: str = ""
    collection: str = ""
    address: str = ""
    citation: str = ""


def make_card(project: "Project", benchmark: "Benchmark", labels: "Votes | None", text: CardText) -> "Card":
    """Return the card of the project's benchmark; `labels` is the content of the label store, if there is one."""
    from eds.benchmarks.card import Card

    statements = {
        "Motivation": [text.motivation] if text.motivation else [],
        "Collection": [*([text.collection] if text.collection else []), *_collection(project, benchmark)],
        "Experts": _experts(benchmark),
        "Agreement": _agreement(project, labels),
        "Recall": _recall(Inputs(project)),
        "Known bias": _bias(benchmark),
    }
    return Card(
        name=text.name or project.config.project.name,
        licence=text.licence,
        version=text.release or "1.0.0",
        made_on=datetime.now(UTC).date().isoformat(),
        address=text.address,
        citation=text.citation,
        statements=statements,
    )


def _collection(project: "Project", benchmark: "Benchmark") -> list[str]:
    facts = []
    for table in ("images", "suspects", "truth"):
        state = project.state(table)
        if state.condition == "stale":
            facts.append(f"Table {table} is stale: {'; '.join(state.reasons)}.")
        elif state.made_by:
            facts.append(f"Table {table} was made by: {state.made_by}.")
    if benchmark.truth is not None and len(benchmark.truth):
        rules = ", ".join(sorted(benchmark.truth["rule"].unique()))
        facts.append(f"Labels were decided by: {rules}. Ties are negative.")
    return facts


def _experts(benchmark: "Benchmark") -> list[str]:
    votes = benchmark.votes
    if votes is None or not len(votes):
        return []
    pairs = votes[["query_id", "candidate_id"]].drop_duplicates()
    experts, per_pair, unsure = votes["expert_id"].nunique(), len(votes) / len(pairs), int(votes["value"].isna().sum())
    facts = [
        f"{experts} experts gave {len(votes):,} votes on {len(pairs):,} pairs, {per_pair:.2f} per pair; {unsure:,} were"
        " unsure."
    ]
    seconds = votes["seconds"].dropna()
    if len(seconds):
        facts.append(f"Judging took {seconds.sum() / 3600:,.1f} hours, {seconds.median():.1f} s per pair (median).")
    versions = sorted(version for version in votes["guideline"].dropna().unique() if version)
    if versions:
        facts.append(f"Versions of the guideline: {', '.join(versions)}.")
    return facts


def _agreement(project: "Project", labels: "Votes | None") -> list[str]:
    from eds.truth import panel_agreement

    if labels is None or not len(labels.labels):
        return []
    try:
        agreement = panel_agreement(
            labels.labels, early_stop=labels.early_stop, control=labels.control, seed=project.config.project.seed
        )
    except EdsError as error:
        return [f"Cannot be computed: {error}"]
    rows = agreement.coefficients[agreement.coefficients["value"].notna()].to_dict(orient="records")
    where = f"{agreement.pairable:,} {'control pairs' if agreement.control else 'pairs'} judged by two or more"
    return [
        f"{COEFFICIENTS[str(row['coefficient'])]}: {row['value']:.3f} (95 %: {row['low']:.3f} to {row['high']:.3f}),"
        f" {where}."
        for row in rows
    ]


def _recall(inputs: Inputs) -> list[str]:
    try:
        report = project_prevalence(inputs)
    except EdsError as error:
        return [f"Cannot be computed: {error}"]
    if report is None:
        return []
    pool, recall = report.pool, report.recall
    facts = [
        f"Universe: {report.universe.text}. The pool holds {pool.rate.pairs:,} of them; {pool.rate.labelled:,} are"
        f" labelled, {pool.rate.positive:,} of them similar."
    ]
    if recall is None:
        facts.append("How many similar pairs lie outside the pool is unknown: no pairs were drawn from outside.")
    else:
        value = "unknown" if math.isnan(recall.value) else f"{recall.value:.3f}"
        limits = f"95 %: {recall.low:.3f} to {recall.high:.3f}"
        facts.append(f"Share of all similar pairs that the pool holds: {value} ({limits}).")
    return facts


def _bias(benchmark: "Benchmark") -> list[str]:
    if benchmark.suspects is None or not len(benchmark.suspects):
        return []
    from eds.suspects import sources_frame

    models = sorted(sources_frame(benchmark.suspects)["model"].unique())
    if not models:
        return ["Which model proposed which pair is unknown; models that did not propose any find unjudged pairs."]
    return [
        f"Pairs were proposed by {', '.join(models)}. These models find judged pairs more often than any other model:"
        " measures of retrieval favour them (compare measures of labelled pairs, as ROC-AUC)."
    ]
