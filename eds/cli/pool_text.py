"""The pool as text."""

from typing import Any

from eds.cli.render import format_table


def headline(document: dict[str, Any]) -> str:
    """The pool in one sentence."""
    return (
        f"The pool at k = {document['k']} holds {document['size']:,} pairs in {document['batches']:,} batches, "
        f"{document['new']:,} of them new; order {document['order']}."
    )


def told_pool(document: dict[str, Any]) -> str:
    """The pool, told for reading."""
    growth = document["growth"]
    steps = list(enumerate(zip(growth["size"], growth["marginal"], strict=True), 1))
    both = document["symmetric"]
    lines = [
        headline(document),
        f"{document['raw']:,} proposals, {document['unique']:,} different pairs: duplication "
        f"{percent(document['duplication_rate'])}, mean overlap of two models "
        f"{percent(document['mean_pairwise_overlap'])}.",
        f"{both['pairs_both_ways']:,} pairs stand there both ways (rule: {both['rule']})"
        + (f"; {both['left_out']:,} were left out." if both["left_out"] else "."),
    ]
    if document["whole_ties"]:
        lines.append(
            f"Of {', '.join(document['whole_ties'])} all came in that score as the candidate at place "
            f"{document['k']} does; their ranks are those of the first of each tie (--no-keep-ties: by id)."
        )
    if document["models_no_longer_pooled"]:
        gone = ", ".join(document["models_no_longer_pooled"])
        lines.append(f"Pairs that only {gone} proposed are kept; sources say so.")
    lines += [
        f"The lists of {model} are stale ({'; '.join(why)}): eds neighbors mine, or leave the model out: --models."
        for model, why in document["stale_lists"].items()
    ]
    lines += [
        "",
        format_table(("model", "pairs no other model proposes"), list(document["unique_by_model"].items())),
        "",
        format_table(("k", "pairs", "new pairs"), [(k, size, new) for k, (size, new) in steps]),
    ]
    if document["cost"]:
        from eds.cli.analysis import told_budget

        lines += ["", told_budget(document["cost"])]
    return "\n".join(lines)


def percent(share: float) -> str:
    """A share as text."""
    return "n/a" if share != share else f"{100 * share:.1f} %"
