"""Render the results of analyses; one that has no renderer here shows its values and tables."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from eds.cli.render import format_estimate, format_interval, format_prevalence, format_rate, format_share, format_table

if TYPE_CHECKING:
    from eds.project.analyse import AnalysisResult
    from eds.project.prevalence import Prevalence


TOO_FEW = "Kendall's tau is left out: of {n} models it says little, as one swap of neighbours changes it by much."


def render_analysis(result: "AnalysisResult", *, explain: bool = False) -> str:
    """Render the result of any analysis; `explain` adds what it rests on."""
    render = RENDERERS.get(result.analysis)
    return "\n".join([*(render(result, explain) if render else _any(result)), *result.notes])


def _any(result: "AnalysisResult") -> list[str]:
    document, tables = result.result, result.tables
    values = document if isinstance(document, Mapping) else {}
    lines = [f"{name}: {value}" for name, value in values.items() if name not in tables]
    for name, frame in tables.items():
        rows = frame.astype(object).to_numpy().tolist()
        lines += ["", f"{name}:", format_table([str(column) for column in frame.columns], rows)]
    return lines


def _bias(result: "AnalysisResult", explain: bool) -> list[str]:
    bias, k = result.result, result.options["k"]
    heads = ["model", "part", f"VSD-HR@{k}", f"judged@{k}", "AUC", "without its own", "shift"]
    if bias.measures["auc"].name == "PR-AUC":  # its chance level is needed to read it
        heads.append("chance level of AUC")
    rows = []
    for row in bias.models.to_dict(orient="records"):
        bounded = row["hr_at_most"] > row["hr"]
        hr = f"{100 * row['hr']:.1f} to {format_share(row['hr_at_most'])}" if bounded else format_share(row["hr"])
        cells = [
            row["model"],
            ("pool" if row["generator"] else "new") + (" †" if row["model"] in result.trained_on else ""),
            hr,
            format_share(row["judged"]),
            _number(row["auc"]),
            format_interval(row["self_removed"], row["self_removed_low"], row["self_removed_high"]),
            format_interval(row["shift"], row["shift_low"], row["shift_high"]),
            _number(row["prevalence"]),
        ]
        rows.append(cells[: len(heads)])
    lines = [format_table(heads, rows)]
    lines.append(f"AUC is {bias.measures['auc']}; without its own: without pairs that only the model proposed.")
    if bias.models["generator"].all():
        lines.append("Every model built the pool, so the groups cannot be compared.")
    elif explain:
        groups = bias.groups.astype(object).to_numpy().tolist()
        lines += [
            "",
            "Means of both groups; above 0, the difference favours the models that built the pool:",
            format_table(["measure", "pool models", "others", "difference"], groups),
        ]
    if explain:
        lines.append(_orders(bias.orders))
    return lines


def _orders(orders: Mapping[str, float]) -> str:
    """Say how far HR and AUC order the models alike, where there are enough of them."""
    values = [
        _number(orders[f"tau{kind}_hr_{side}"], 2) for side in ("auc", "self_removed") for kind in ("_b", "_ap_b")
    ]
    if set(values) == {"n/a"}:
        return TOO_FEW.format(n=int(orders["n"]))
    return (
        f"Order by HR and by AUC: Kendall's tau_b {values[0]}, tau_AP,b {values[1]}; with the AUC without own pairs"
        f" {values[2]} and {values[3]}."
    )


def _identification(result: "AnalysisResult", explain: bool) -> list[str]:
    document = result.result
    cells = {(row["model"], row["measure"]): row for row in document["scores"].to_dict(orient="records")}
    models, measures = (list(dict.fromkeys(document["scores"][name])) for name in ("model", "measure"))
    rows = []
    for name in measures:
        every = [cells[model, name] for model in models]
        rows.append([name, *(format_interval(*(cell[end] for end in ("value", "low", "high"))) for cell in every)])
        for part in ("seen", "unseen"):  # of models that were trained here
            values = [float("nan") if cell.get(part) is None else float(cell[part]) for cell in every]
            if any(value == value for value in values):
                rows.append([f"  {part} in training", *(_number(value, 3) for value in values)])
    alone = document["queries"] - document["queries_with_another_picture"]
    return [
        format_table(["measure", *models], rows),
        f"{document['queries_with_another_picture']:,} queries have {document['pairs']:,} other images of their product"
        f" among the candidates; {alone:,} queries have none and are left out.",
        *(
            f"No interval for {', '.join(dict.fromkeys(part.measure))}: {reason}."
            for reason, part in document["scores"].groupby("no_interval")
        ),
    ]


def _leave_one_out(result: "AnalysisResult", explain: bool) -> list[str]:
    from eds.project.measures import shorten

    if not explain:
        return _own_pairs(result.result[0], result.trained_on)
    lines: list[str] = []
    for mode in dict.fromkeys(part.mode for part in result.result):
        parts = [part for part in result.result if part.mode == mode]
        first, measures = parts[0], shorten([part.measure for part in parts])
        rows = [
            [
                _marked(name, result.trained_on),
                "yes" if name in first.loo else "no",
                *(_spread(part, name) for part in parts),
            ]
            for name in first.full
        ]
        removed = [
            [name, kept, *(_order_kept(part.spearman[name]) for part in parts)]
            for name, kept in first.n_labels_kept.items()
        ]
        unproposed = first.n_labels_nobody_proposed
        nobody = f", {unproposed:,} that no model proposed" if unproposed else ""
        lines += [
            *([""] if lines else []),
            f"Mode {mode}, {first.n_labels:,} labels{nobody}:",
            format_table(["model", "pool model", *measures], rows),
            format_table(["removed", "labels kept", *measures], removed),
        ]
    lines.append("Models: all labels; mean ± spread without each pool model; shift without the model itself.")
    lines.append(
        "Removed: Spearman's correlation of the models' order with the order on all labels (exact p, t"
        " approximation; tau_AP,b). Chance: share of similar pairs, the chance level of a PR-AUC."
    )
    return lines


def _marked(name: str, trained: "Mapping[str, Any]") -> str:
    """A model's name, with a † if it learned from data of this project."""
    return f"{name} †" if name in trained else name


def _own_pairs(part: Any, trained: "Mapping[str, Any]") -> list[str]:
    """The first measure: every model on all labels, without those of any other pool model, and without its own."""
    from eds.project.measures import shorten

    rows = []
    for name, full in part.full.items():
        others = [row[name] for removed, row in part.loo.items() if removed != name and row[name] == row[name]]
        around = f"{min(others):.3f} to {max(others):.3f}" if others else "n/a"
        shift, interval = part.self_removal_shift.get(name), part.self_removal_interval.get(name)
        limits = (float("nan"),) * 2 if interval is None else (interval.low, interval.high)
        own = ["-", "-"] if shift is None else [_number(full + shift), format_interval(shift, *limits)]
        rows.append([_marked(name, trained), _number(full), around, *own])
    heads = ["model", shorten([part.measure])[0], "without another", "without its own", "shift"]
    what = "that only it proposed" if part.mode == "unique" else "that it proposed"
    return [
        format_table(heads, rows),
        f"Without a pool model: without the labels of the pairs {what}. Other measures and modes: --explain.",
    ]


def _spread(part: Any, name: str) -> str:
    shift, interval = part.self_removal_shift.get(name), part.self_removal_interval.get(name)
    own = "" if shift is None else f"; {shift:+.3f}" if shift == shift else "; n/a"
    if shift is not None and interval is not None and interval.no_interval is None:
        own += f" [{interval.low:+.3f}, {interval.high:+.3f}]"
    chance = f"; chance {_number(part.prevalence[name])}" if part.measure.startswith("PR-AUC") else ""
    full, mean, std = (_number(getattr(part, kind)[name], 4) for kind in ("full", "mean", "std"))
    return f"{full}; {mean} ± {std}{own}{chance}"


def _order_kept(order: Mapping[str, float]) -> str:
    if order["rho"] != order["rho"]:
        return "n/a"
    exact = order["p_exact"]
    p = "n/a" if exact is None or exact != exact else f"{exact:.3f}"
    return f"{order['rho']:.2f} (p {p}, t {order['p_t']:.3f}; {_number(order['tau_ap_b'], 2)})"


def _overlap(result: "AnalysisResult", explain: bool) -> list[str]:
    document = result.result
    models = document["models"]
    rows = [
        [name, *map(format_share, shares), document["unique_by_model"][name]]
        for name, shares in zip(models, document["overlap"], strict=True)
    ]
    exactly = ", ".join(f"{count:,} by {n}" for n, count in enumerate(document["proposed_by_exactly"], 1))
    return [
        format_table(["model", *models, "images only here"], rows),
        f"Shared candidates of two lists at k = {document['k']}; on average "
        f"{format_share(document['mean_pairwise_overlap'])}.",
        f"{document['raw']:,} proposals, {document['unique']:,} different pairs of images (duplication "
        f"{format_share(document['duplication_rate'])}): {exactly} models.",
    ]


def _prevalence(result: "AnalysisResult", explain: bool) -> list[str]:
    facts: Prevalence = result.result
    pool, confidence = facts.pool, 100 * result.options["confidence"]
    lines = []
    if facts.models:
        heads = ["model", "pairs", "labelled", "similar", "p_k", "only here", "similar only here"]
        rows = []
        for row in facts.models:
            rate, alone = row.rate, (row.pairs_only_here, row.positives_only_here)
            counts = rate.pairs, rate.labelled, rate.positive
            rows.append([row.model, *counts, format_rate(rate.to_dict()), *alone])
        lines.append(format_table(heads, rows))
    lines.append(
        f"Universe: {facts.universe.text}. The pool has {pool.rate.pairs:,} of them, {pool.rate.labelled:,} labelled, "
        f"{pool.rate.positive:,} similar: p_k = {format_rate(pool.rate.to_dict())} (intervals at {confidence:g} %)."
    )
    if pool.rate.labelled < pool.rate.pairs:
        lines.append(
            f"Similar in the whole pool, by how it was dealt into batches: {format_estimate(pool.whole_rate)}."
        )
    lines += [*_random(facts), *_recall(facts), *_left_out(facts)]
    if not explain:
        return lines
    lines.append(
        f"p is at least {format_share(facts.p_lower_bound, 4)} (p_LB: {facts.known:,} similar pairs are known)."
    )
    if facts.universe.unit == "product":
        lines.append(
            f"A query and a product are similar if any judged image of the product is. {pool.several_images:,} of "
            f"these pairs have several judged images, and {pool.disagreeing:,} of those have images with both labels."
        )
    if facts.p_of_image_pairs:
        pairs = facts.universe.image_pairs
        lines.append(
            f"Of all {pairs:,} pairs of images p = {format_prevalence(facts.p_of_image_pairs)} (the paper's p)."
        )
    if facts.ranks:
        heads = ["rank", "labelled", "similar", "rate"]
        rows = [
            [place, rate.labelled, rate.positive, format_rate(rate.to_dict())]
            for place, rate in enumerate(facts.ranks, start=1)
        ]
        lines += ["", "By rank, all models together:", format_table(heads, rows)]
    if facts.strata:
        rows = [
            [row.stratum, *(round(count, 1) for count in (row.size, row.labelled, row.positive))]
            for row in facts.strata
        ]
        lines += ["", format_table(["outside the pool", "pairs", "labelled", "similar"], rows)]
    return [*lines, *_unseen(facts)]


def _left_out(facts: "Prevalence") -> list[str]:
    lines = []
    if facts.pool.left_out:
        lines.append(f"{facts.pool.left_out:,} pairs of the pool are left out: they are not in the universe.")
    if facts.draws_left_out:
        lines.append(
            f"{facts.draws_left_out:,} random pairs are left out: they were drawn from an earlier, larger universe."
        )
    return lines


def _random(facts: "Prevalence") -> list[str]:
    random, p = facts.random, facts.p
    if p is None:
        return ["There are no random pairs: draw some (eds suspects random -n 2000) and have them judged."]
    if random is None and p.value != p.value:
        return ["The random pairs come from a part of the pairs outside the pool, so p cannot be estimated."]
    if random is None or not facts.p_by_draws:
        return [f"By the pool and the random pairs outside it p = {format_prevalence(p)}."]
    lines = []
    if not random.enough:
        left = random.drawn - random.labelled
        lines.append(
            f"{left:,} of {random.drawn:,} random pairs have no label: intervals are widened by them (all not similar, "
            "or all similar)."
        )
    lines.insert(0, f"Random pairs: {random.positive:,} of {random.labelled:,} similar: p = {format_prevalence(p)}.")
    if facts.gain and facts.gain.value == facts.gain.value:
        gain = facts.gain
        limits = f"[{gain.low:,.1f}, {gain.high:,.1f}]"
        lines.append(
            f"A judgement of the pool finds {gain.value:,.1f} {limits} times as many similar pairs as a random one."
        )
    return lines


def _recall(facts: "Prevalence") -> list[str]:
    if facts.recall is None or facts.found is None:
        return []
    if facts.recall.value != facts.recall.value:
        return ["How many of all similar pairs the pool holds cannot be estimated from these labels."]
    held = f"The pool holds {format_estimate(facts.recall)} of all similar pairs"
    if facts.pool.rate.labelled < facts.pool.rate.pairs:
        held += ", judged or not"
    return [f"{held}; found so far, random pairs included: {format_estimate(facts.found)}."]


def _unseen(facts: "Prevalence") -> list[str]:
    unseen = facts.unseen
    if not unseen or not sum(unseen["found_by_exactly"]):
        return []
    counts = ", ".join(f"{count:,} by {n}" for n, count in enumerate(unseen["found_by_exactly"], 1))
    return [
        f"Similar pairs by how many models found them: {counts}. Chao's bound: at least "
        f"{unseen['chao2_total']:,.0f} in all, more because models err alike."
    ]


def _reusability(result: "AnalysisResult", explain: bool) -> list[str]:
    from eds.project.measures import shorten

    document = result.result
    heads = {
        "largest_drop": "largest drop",
        "largest_rise": "largest rise",
        "mean_drop": "mean drop",
        "largest_move": "largest move",
    }
    summaries = document["measures"]
    names, models = shorten([row["measure"] for row in summaries]), max((row["models"] for row in summaries), default=0)
    if enough := any(row["least_tau_b"] == row["least_tau_b"] for row in summaries):
        heads |= {"least_tau_b": "least tau_b", "least_tau_ap_b": "least tau_AP,b"}
    rows = [[name, *(row[key] for key in heads)] for name, row in zip(names, summaries, strict=True)]
    lines = [
        format_table(["measure", *heads.values()], rows),
        "Each pool model as if it were new, its own finds unjudged: measures that change little are fair to others.",
        *([] if enough else [TOO_FEW.format(n=models)]),
    ]
    if explain:
        columns = {
            "measure": "measure",
            "model": "model",
            "unique_pairs": "own pairs",
            "unique_positives": "own similar",
            "full": "pooled",
            "unpooled": "as new",
            "drop": "drop",
            "rank_full": "rank",
            "rank_unpooled": "rank as new",
        } | ({"kendall_tau_b": "tau_b"} if enough else {})
        rows = document["models"][list(columns)].astype(object).to_numpy().tolist()
        lines += ["", format_table(list(columns.values()), rows)]
    return lines


def _threshold(result: "AnalysisResult", explain: bool) -> list[str]:
    facts = result.result
    lines: list[str] = []
    for population, text in facts.populations.items():
        rows = [row for row in facts.rows if row.population == population and (explain or not row.category)]
        heads = ["model", *([facts.by] if explain else []), "show from", "precision", "similar pairs shown", "labelled"]
        cells = [
            [
                row.model,
                *([row.category or "all"] if explain else []),
                "-" if row.threshold.score != row.threshold.score else f"{row.threshold.score:.4g}",
                format_interval(row.threshold.precision, row.threshold.low, row.threshold.high),
                format_share(row.threshold.recall),
                row.threshold.pairs,
            ]
            for row in rows
        ]
        lines += [*([""] if lines else []), f"Among {text}:", format_table(heads, cells)]
        lines += [f"{row.model}: {row.threshold.reason}." for row in rows if not row.category and row.threshold.reason]
        if population == "universe" and any(
            row.threshold.draws_above < 3 and row.threshold.pairs for row in rows if not row.category
        ):
            lines.append(
                "Few random pairs have such scores: the lower limits allow for different pairs that none showed."
            )
    if len(facts.populations) == 1 and "pool" in facts.populations:
        lines.append(
            "Of pairs outside the pool nothing is known: draw some (eds suspects random) and have them judged."
        )
    lines += [
        f"{model}: {count:,} labelled pairs have no score." for model, count in sorted(facts.unscored.items()) if count
    ]
    if not explain and len({row.category for row in facts.rows}) > 1:
        lines.append(f"By {facts.by} of the query: --explain.")
    return lines


def _number(value: float, digits: int = 3) -> str:
    return format_interval(value, float("nan"), float("nan"), digits)


RENDERERS: dict[str, Callable[["AnalysisResult", bool], list[str]]] = {
    "bias": _bias,
    "identification": _identification,
    "leave-one-out": _leave_one_out,
    "overlap": _overlap,
    "prevalence": _prevalence,
    "reusability": _reusability,
    "threshold": _threshold,
}
