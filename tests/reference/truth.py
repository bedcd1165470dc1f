"""Truth, slowly: plain loops over plain lists, and the definitions instead of the closed forms."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

Act = dict[str, Any]


def final_label(votes: Iterable[Any]) -> int | None:
    """A whole panel's label: more 1 than 0; a tie is 0; none if nobody could tell."""
    told = [vote for vote in votes if vote != "skip"]
    if not told:
        return None
    return int(told.count(1) > told.count(0))


def status_by_trying(votes: Sequence[Any], panel: int) -> tuple[str, int | None]:
    """Status and label by trying all answers that may still come."""
    rest = panel - len(votes)
    if rest == 0:
        return "complete", final_label(votes)
    told = any(vote != "skip" for vote in votes)
    outcomes = {final_label([*votes, *more]) for more in product([1, 0, "skip"], repeat=rest)}
    if told and len(outcomes) == 1:
        return "decided", outcomes.pop()
    return "open", None


def expected_votes(panel: int, q: float) -> float:
    """Votes asked under early stop, over all sequences of answers."""
    total = 0.0
    for answers in product([1, 0], repeat=panel):
        asked = next(count for count in range(1, panel + 1) if status_by_trying(answers[:count], panel)[0] != "open")
        total += asked * math.prod(q if answer else 1 - q for answer in answers)
    return total


def accuracy(panel: int, sensitivity: float, specificity: float) -> tuple[float, float]:
    """How often the label is right, over all answers of the panel."""
    right = {1: 0.0, 0: 0.0}
    for answers in product([1, 0], repeat=panel):
        label = final_label(answers)
        for truth, of_one in ((1, sensitivity), (0, 1 - specificity)):
            if label == truth:
                right[truth] += math.prod(of_one if answer else 1 - of_one for answer in answers)
    return right[1], right[0]


def current(acts: list[Act], as_of: Any = None) -> dict[tuple[str, str, str, str], Act]:
    """The act that counts of each (query, candidate, expert, kind)."""
    seen = [act for act in acts if as_of is None or act["created_at"] <= as_of]
    gone = {act["supersedes"] for act in seen}
    counts: dict[tuple[str, str, str, str], Act] = {}
    for act in seen:
        key = (act["query_id"], act["candidate_id"], act["expert_id"], act["kind"])
        if act["label_id"] not in gone and (key not in counts or counts[key]["created_at"] < act["created_at"]):
            counts[key] = act
    return counts


def votes(acts: list[Act], voting: Sequence[str], as_of: Any = None) -> dict[tuple[str, str], dict[str, Any]]:
    """Of each pair the value of each expert who has a vote."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for kind in reversed(voting):
        for (query, candidate, expert, of_kind), act in current(acts, as_of).items():
            if of_kind == kind:
                found.setdefault((query, candidate), {})[expert] = act["value"]
    return found


def truth(acts: list[Act], panel: int, voting: Sequence[str], as_of: Any = None) -> list[tuple[Any, ...]]:
    """(query, candidate, status, label, for, against, unsure, tie) of each pair with a vote, sorted."""
    rows = []
    for (query, candidate), by_expert in sorted(votes(acts, voting, as_of).items()):
        answers = ["skip" if value is None else value for value in by_expert.values()]
        status, label = status_by_trying(answers, panel)
        yes, no = answers.count(1), answers.count(0)
        rows.append((query, candidate, status, label, yes, no, answers.count("skip"), yes == no > 0))
    return rows


Wave = dict[str, Any]  # of each expert: (time, answer), "waits", or "stopped"


def joint_label(campaigns: dict[str, list[Wave]]) -> tuple[str, int | None]:
    """Status and label of a pair that several campaigns ask, each of one wave of experts after the other."""

    def status(waves: Sequence[Wave], *, without_stopped: bool = False) -> tuple[str, int | None]:
        people = [(name, state) for wave in waves for name, state in wave.items()]
        waiting = [state for _, state in people if state == "waits" or (state == "stopped" and not without_stopped)]
        told: dict[str, Any] = {}
        for name, state in sorted((one for one in people if isinstance(one[1], tuple)), key=lambda one: one[1][0]):
            told[name] = "skip" if state[1] is None else state[1]
        return status_by_trying(list(told.values()), len(told) + len(waiting))

    counted: list[tuple[int, str, list[Wave]]] = []
    for name, waves in campaigns.items():
        for size in range(len(waves), 0, -1):
            if status(waves[:size])[0] != "open":
                times = [state[0] for wave in waves[:size] for state in wave.values() if isinstance(state, tuple)]
                counted.append((max(times), name, waves[:size]))
                break
    counted.sort(key=lambda one: one[:2])
    while len(counted) > 1:
        found = status([wave for _, _, waves in counted for wave in waves], without_stopped=True)
        if found[0] != "open":
            return found
        counted.pop()  # what was decided stays until the votes together are decided
    return status(counted[0][2]) if counted else ("open", None)


def krippendorff(ratings: Sequence[Sequence[int | None]]) -> float:
    """Alpha from its definition: disagreeing pairs within items, against those of all ratings together."""
    items = [told for row in ratings if len(told := [value for value in row if value is not None]) > 1]
    everything = [value for item in items for value in item]
    total = len(everything)
    observed = sum(sum(a != b for a, b in combinations(item, 2)) * 2 / (len(item) - 1) for item in items)
    expected = sum(a != b for a, b in combinations(everything, 2)) * 2
    return 1 - observed * (total - 1) / expected if expected else math.nan


def ac1(ratings: Sequence[Sequence[int | None]]) -> float:
    """Gwet's AC1 by loops."""
    rated = [told for row in ratings if (told := [value for value in row if value is not None])]
    pairs = [[a == b for a, b in combinations(item, 2)] for item in rated if len(item) > 1]
    if not pairs:
        return math.nan
    observed = sum(sum(item) / len(item) for item in pairs) / len(pairs)
    share = sum(sum(item) / len(item) for item in rated) / len(rated)
    chance = 2 * share * (1 - share)
    return (observed - chance) / (1 - chance)


def dawid_skene(votes: Sequence[tuple[str, str, int]], iterations: int) -> dict[str, float]:
    """Dawid and Skene's model by loops, in plain probabilities."""
    tasks, workers = sorted({vote[0] for vote in votes}), sorted({vote[1] for vote in votes})
    of_task = {task: [vote for vote in votes if vote[0] == task] for task in tasks}
    belief = {task: sum(vote[2] for vote in of_task[task]) / len(of_task[task]) for task in tasks}
    for _ in range(iterations):
        prior = sum(belief.values()) / len(belief)
        error: dict[tuple[str, int, int], float] = {}
        for worker in workers:
            for label in (0, 1):
                counts = [
                    max(
                        sum(belief[t] if label else 1 - belief[t] for t, w, v in votes if w == worker and v == said),
                        1e-10,
                    )
                    for said in (0, 1)
                ]
                for said in (0, 1):
                    error[worker, label, said] = counts[said] / sum(counts)
        for task in tasks:
            yes = prior * math.prod(error[w, 1, v] for _, w, v in of_task[task])
            no = (1 - prior) * math.prod(error[w, 0, v] for _, w, v in of_task[task])
            belief[task] = yes / (yes + no)
    return belief


def profile(acts: list[Act], expert: str, voting: Sequence[str]) -> dict[str, Any]:
    """One expert's figures, by loops."""
    by_pair = votes(acts, voting)
    mine = [(pair, given[expert]) for pair, given in by_pair.items() if expert in given]
    told = [(pair, value) for pair, value in mine if value is not None]
    agreed = compared = tied = 0
    for pair, value in told:
        others = [vote for name, vote in by_pair[pair].items() if name != expert and vote is not None]
        lead = others.count(1) - others.count(0)
        compared += lead != 0
        tied += bool(others) and lead == 0
        agreed += lead != 0 and (lead > 0) == (value == 1)
    first: dict[Any, Any] = {}
    for kind in ("gold", "normal"):
        for (query, candidate, name, of_kind), act in current(acts).items():
            if name == expert and of_kind == kind:
                first[query, candidate] = act["value"]
    again = {
        (query, candidate): act["value"]
        for (query, candidate, name, kind), act in current(acts).items()
        if name == expert and kind == "repeat" and act["value"] is not None
    }
    both = [pair for pair in again if first.get(pair) is not None]
    return {
        "answers": len(mine),
        "judged": len(told),
        "positive": sum(value for _, value in told),
        "agreed": agreed,
        "compared": compared,
        "others_tied": tied,
        "repeats": len(both),
        "repeat_same": sum(again[pair] == first[pair] for pair in both),
    }
