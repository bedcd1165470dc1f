"""DINO's loss, item by item and prototype by prototype, in plain arithmetic."""

import math

Answers = list[list[list[float]]]  # views, items, prototypes


def softmax(row: list[float]) -> list[float]:
    """Numbers above 0 that add up to 1."""
    powers = [math.exp(value - max(row)) for value in row]
    return [power / sum(powers) for power in powers]


def loss(student: Answers, teacher: Answers, centre: list[float], student_t: float, teacher_t: float) -> float:
    """The mean over pairs of different views of the mean over items of the cross-entropy."""
    pairs = []
    for place, wanted in enumerate(teacher):
        for other, told in enumerate(student):
            if place == other:
                continue
            items = []
            for want, tell in zip(wanted, told, strict=True):
                target = softmax([(value - middle) / teacher_t for value, middle in zip(want, centre, strict=True)])
                answer = softmax([value / student_t for value in tell])
                items.append(-sum(t * math.log(a) for t, a in zip(target, answer, strict=True)))
            pairs.append(sum(items) / len(items))
    return sum(pairs) / len(pairs)
