"""Render what a benchmark costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.cli.render import format_share, format_table

if TYPE_CHECKING:
    from eds.project.budget import BudgetResult, MachineWork, Plan

PRICES = (("machines", "machine_money"), ("a month", "storage_money_monthly"))


def render_budget(result: "BudgetResult", *, explain: bool = False) -> str:
    """Render the plans of judging, the work of machines and, on request, the rates that they rest on."""
    sure = result.certainty
    lines = [
        render_plans(result.plans, result.currency),
        f"All pairs: {result.scope.text}; {result.seconds.source}.",
        f"{sure['queries']:,} queries show a difference of {sure['smallest_difference']:.3f} between two models four"
        f" times in five; {round(sure['pairs']):,} judged pairs give a rate to within"
        f" {100 * sure['half_width']:.2f} percentage points if they were independent, and to within twice that where"
        " pairs of a query are alike (design effect 4).",
        "",
        *_machines(result.machines, result.currency),
    ]
    if explain:
        lines += [
            "",
            "A difference: at 95 %, where the queries' differences spread by 0.15. Were the judged pairs random and"
            f" none of them similar, p would be below {format_share(sure['p_below'], 3)}.",
            "Rates:",
            *(f"  - {rate.source}" for rate in result.machines.rates),
        ]
    return "\n".join(lines)


def render_plans(plans: "Sequence[Plan]", currency: str = "") -> str:
    """Render the plans of judging as a table; money only where a pay is known."""
    paid = any(plan.money is not None for plan in plans)
    heads = ["plan", "pairs", "judgements", "hours", "times fewer"] + ([f"money {currency}".strip()] if paid else [])
    names = ["pairs", "judgements", "hours", "times_fewer"] + (["money"] if paid else [])
    return format_table(heads, [[plan.name, *(_round(getattr(plan, name)) for name in names)] for plan in plans])


def _machines(work: "MachineWork", currency: str) -> list[str]:
    plan = work.plan
    priced = [(head, key) for head, key in PRICES if getattr(plan, key) is not None]
    rows = [
        [
            model.name,
            format_time(model.embed_seconds),
            format_time(model.mine_seconds),
            _round(model.machine_hours),
            format_size(model.vector_bytes),
            *(_round(getattr(model, key)) for _, key in priced),
        ]
        for model in plan.models
    ]
    embed, mine = (sum(getattr(model, name) for model in plan.models) for name in ("embed_seconds", "mine_seconds"))
    prices = [sum(getattr(model, key) for model in plan.models) for _, key in priced]
    rows.append(
        [
            "all",
            format_time(embed),
            format_time(mine),
            _round(plan.machine_hours),
            format_size(plan.vector_bytes),
            *map(_round, prices),
        ]
    )
    heads = ["model", "embedding", "mining", "machine hours", "vectors", *(f"{head} {currency}" for head, _ in priced)]
    machines = "this machine" if work.machines == 1 else f"{work.machines:,} machines like this one"
    hours = plan.expert_hours
    lines = [
        f"Machines: {work.images:,} images, {work.queries:,} queries, {machines}; tasks of a model:"
        f" {plan.embed_tasks:,} to embed, {plan.mine_tasks:,} to mine",
        format_table(heads, rows),
        f"In all {format_time(plan.seconds)}; pictures {format_size(plan.picture_bytes)}; experts"
        f" {hours:,.{1 if hours < 10 else 0}f} hours for {plan.judgements:,.0f} judgements.",
    ]
    if plan.storage_money_monthly is not None:
        lines.append(f"Storage with the pictures: {plan.storage_money_monthly:,.2f} {currency} a month.")
    return lines


def format_time(seconds: float) -> str:
    """Return a time with its unit.

    >>> format_time(0.4), format_time(90), format_time(7200), format_time(1e6)
    ('0.4 s', '1.5 min', '2.0 h', '11.6 days')
    """
    for limit, unit, name in ((60, 1, "s"), (3600, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds / 86_400:,.1f} days"


def format_size(count: float) -> str:
    """Return a number of bytes with its unit.

    >>> format_size(2_500), format_size(2.048e12)
    ('2.5 kB', '2.0 TB')
    """
    for name, unit in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count / 1e3:,.1f} kB"


def _round(value: float) -> float:
    """Round to a whole number from 100 up, else to two decimals."""
    return round(value) if value >= 100 or value == round(value) else round(value, 2)
