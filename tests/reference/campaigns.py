"""Truth over several campaigns, slowly: who was asked what, who said what, and the label that follows from it.

Kept beside the product by a test that does everything twice; nothing here knows tables or databases.
"""

from dataclasses import dataclass, field

from tests.reference.truth import Wave, joint_label

Pair = tuple[str, str]


@dataclass
class Campaign:
    """One campaign: the waves of its panel, who left, and what everybody said."""

    pairs: list[Pair]
    waves: list[list[str]]
    some: bool  # each pair is asked of some of the panel: no waves
    gone: set[str] = field(default_factory=set)
    said: dict[tuple[Pair, str], tuple[int, int | None]] = field(default_factory=dict)  # time, answer

    def join(self, expert: str) -> None:
        """An expert joins, or comes back: a wave of its own once anybody has judged."""
        self.gone.discard(expert)
        for wave in self.waves:
            if expert in wave:
                wave.remove(expert)
        if self.said:
            self.waves.append([expert])
        else:
            self.waves[0].append(expert)

    def state(self, pair: Pair, waiting: set[tuple[Pair, str]]) -> list[Wave]:
        """What the members of each wave said or will say of a pair; `waiting` is who still has it in the queue."""
        result: list[Wave] = []
        together = [expert for wave in self.waves for expert in wave]
        for wave in [together] if self.some else self.waves:
            states: Wave = {}
            for expert in wave:
                if (pair, expert) in self.said:
                    states[expert] = self.said[pair, expert]
                elif (pair, expert) in waiting:
                    states[expert] = "waits"
                elif not self.some and expert not in self.gone:
                    states[expert] = "stopped"  # asked no more, since the pair was decided
            if states:
                result.append(states)
        return result


@dataclass
class World:
    """All campaigns, and what leads decided."""

    campaigns: dict[str, Campaign] = field(default_factory=dict)
    decided: dict[Pair, int] = field(default_factory=dict)

    def labels(self, waiting: dict[str, set[tuple[Pair, str]]]) -> dict[Pair, int]:
        """The label of each pair that has one."""
        found = dict(self.decided)
        for pair in {pair for campaign in self.campaigns.values() for pair in campaign.pairs} - set(found):
            states = {name: one.state(pair, waiting[name]) for name, one in self.campaigns.items() if pair in one.pairs}
            _, label = joint_label({name: waves for name, waves in states.items() if waves})
            if label is not None:
                found[pair] = label
        return found
