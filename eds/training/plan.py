"""How long and how hard is trained: the numbers of a run, checked together."""

from dataclasses import dataclass

from eds.errors import InputError


@dataclass(frozen=True)
class Plan:
    """Of every run, heads and networks alike."""

    epochs: int = 50
    batch: int = 64
    learning_rate: float = 1e-3
    warm_up: float = 1.0  # epochs in which the learning rate rises to its full height
    weight_decay: float = 5e-5
    patience: int = 10  # epochs without a better held-out score after which the run ends
    held_out: float = 0.2  # share of the products
    group: int = 4  # items of one kind that meet in a batch
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"epochs": 1, "batch": 2, "patience": 1, "group": 2, "seed": 0, "warm_up": 0, "weight_decay": 0}
        faults = [f"{name} is {getattr(self, name)}; at least {low}" for name, low in least.items()
                  if not getattr(self, name) >= low]  # fmt: skip
        if not 0 < self.learning_rate < float("inf"):
            faults.append(f"learning_rate is {self.learning_rate}; above 0")
        if not 0 < self.held_out < 1:
            faults.append(f"held_out is {self.held_out}; between 0 and 1")
        if faults:
            raise InputError("nothing can be trained so", where="training", do="Change:", faults=faults)

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 0 over all epochs of `steps` each.

        >>> [Plan(warm_up=1, learning_rate=1.0).rate(step, 4) for step in (0, 3, 9)]
        [0.25, 1.0, 1.0]
        """
        rising = self.warm_up * steps
        return self.learning_rate * min(1.0, (step + 1) / rising) if rising else self.learning_rate
