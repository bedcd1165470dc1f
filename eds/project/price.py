"""What an operation costs the experts, known before it is done."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.project.inputs import Inputs

PAIR = ["query_id", "candidate_id"]
PLANTED = ("gold", "repeat")  # asked even where the pair has a label


@dataclass(frozen=True)
class Price(Result):
    """The judgements that an operation adds, and the experts' hours for them."""

    pairs: int  # asked of the experts, and not asked before
    experts: int  # who judge each pair
    judgements: int
    hours: float  # of all experts together, without pauses
    seconds: float  # of a judgement
    measured: bool  # whether the seconds were measured on this project's judgements, or are those of eds.toml
    money: float | None  # None where no pay is given
    currency: str

    @property
    def text(self) -> str:
        """The price in one line.

        >>> Price(500, 3, 1500, 6.25, 15.0, False, None, "EUR").text
        'adds 500 pairs, 1,500 judgements, 6.2 hours (configured: 15.0 s a pair)'
        """
        return f"adds {self.pairs:,} pair{'' if self.pairs == 1 else 's'}, {self.cost}"

    @property
    def cost(self) -> str:
        """The judgements and what they take."""
        money = f", {self.currency} {self.money:,.2f}" if self.money is not None else ""
        source = "measured" if self.measured else "configured"
        acts = f"{self.judgements:,} judgement{'' if self.judgements == 1 else 's'}"
        return f"{acts}, {self.hours:,.1f} hours{money} ({source}: {self.seconds:.1f} s a pair)"


def price_of(project: "Project", pairs: int, judgements: int | None = None) -> Price:
    """Return the price of so many pairs by the project's budget; `judgements` where they are counted otherwise."""
    from eds.project.budget import seconds_per_label

    budget = project.config.budget
    try:
        rate = seconds_per_label(project)
    except EdsError:  # pairs may be drawn while the labels cannot be read, as those of an older version
        rate = seconds_per_label(project, budget.seconds)
    count = pairs * budget.experts if judgements is None else judgements
    hours = count * rate.value / 3600
    money = hours * budget.hourly if budget.hourly else None
    return Price(pairs, budget.experts, count, hours, rate.value, rate.measured, money, budget.currency)


def price_of_suspects(inputs: "Inputs", after: "pd.DataFrame") -> Price:
    """Return the price of the suspects' table becoming `after`: pairs to judge that were not there before."""
    import pandas as pd

    new = questions(after).difference(questions(inputs.suspects))
    if len(new) and len(known := judged_pairs(inputs)):
        pairs = pd.MultiIndex.from_frame(new.to_frame(index=False)[PAIR])
        labelled = pairs.isin(pd.MultiIndex.from_frame(known.astype(str)))
        new = new[~(labelled & ~new.get_level_values("kind").isin(PLANTED))]
    return price_of(inputs.project, len(new))


def questions(suspects: "pd.DataFrame") -> Any:
    """Return what experts are asked: each pair once however many draws it has, and again as gold and as a repeat."""
    import pandas as pd

    kind = suspects["origin"].where(suspects["origin"].isin(PLANTED), "normal")
    frame = pd.DataFrame({**{name: suspects[name].astype(str) for name in PAIR}, "kind": kind.astype(str)})
    return pd.MultiIndex.from_frame(frame.drop_duplicates())


def judged_pairs(inputs: "Inputs") -> "pd.DataFrame":
    """Return the pairs with a label or a vote: judging them again would add nothing."""
    import pandas as pd

    from eds.project.decide import has_votes, read_votes

    parts = [inputs.read("truth")[PAIR]] if inputs.exists("truth") else []
    with suppress(EdsError):  # see price_of
        parts += [read_votes(inputs.project).labels[PAIR]] if has_votes(inputs.project) else []
    if not parts:
        return pd.DataFrame({name: pd.Series([], dtype="str") for name in PAIR})
    return pd.concat(parts, ignore_index=True).drop_duplicates()
