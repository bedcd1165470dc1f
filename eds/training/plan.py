"""The hyperparameters of a run, checked together."""

import math
from dataclasses import asdict, dataclass
from typing import Any, get_args

from eds import choices
from eds.choices import KeptWeights
from eds.errors import InputError

FASTEST = 1000.0  # learning rate; far below the overflow of a float32 step


@dataclass(frozen=True)
class Plan:
    """The hyperparameters of heads and networks."""

    epochs: int = 50
    batch: int = 64
    learning_rate: float = 1e-3
    warm_up: float = 1.0  # epochs in which the learning rate rises linearly
    weight_decay: float = 5e-5
    patience: int = 10  # epochs without a better validation score after which the run ends
    keep: str = "best"  # which epoch's weights: the best on the validation split, or the last
    validation_share: float = 0.1  # of the products; their score decides early stopping
    test_share: float = 0.2  # of the products; their score decides nothing
    group: int = 4  # items of one class in a batch
    seed: int = 0
    optimizer: str = "adam"
    momentum: float = 0.9  # of sgd; of adam the decay of its first moment (0: no momentum)
    schedule: str = "constant"  # of the rate after the warm-up: constant, cosine, or FACTOR@EPOCHS
    clip: float = 0.0  # largest norm of the gradient; 0: no limit
    log: str = "csv"  # tensorboard: event files beside log.csv; it does not change the weights

    def __post_init__(self) -> None:
        least = {
            "epochs": 1,
            "batch": 2,
            "patience": 1,
            "group": 2,
            "seed": 0,
            "warm_up": 0,
            "weight_decay": 0,
            "clip": 0,
        }
        faults = [
            f"{name} is {getattr(self, name)}; at least {low}"
            for name, low in least.items()
            if not low <= getattr(self, name) < float("inf")
        ]
        if not 0 < self.learning_rate <= FASTEST:
            faults.append(f"learning_rate is {self.learning_rate}; above 0, at most {FASTEST:g}")
        shares = {"validation_share": self.validation_share, "test_share": self.test_share}
        faults += [f"{name} is {share}; between 0 and 1" for name, share in shares.items() if not 0 < share < 1]
        if self.validation_share + self.test_share >= 1:
            faults.append(
                f"validation_share and test_share are {self.validation_share + self.test_share:g} together; below 1"
            )
        if self.keep not in get_args(KeptWeights):
            faults.append(f"keep is {self.keep!r}; one of {', '.join(get_args(KeptWeights))}")
        choices.check(choices.Optimizer, self.optimizer, "optimizer")
        choices.check(choices.TrainingLog, self.log, "log")
        if not 0 <= self.momentum < 1:
            faults.append(f"momentum is {self.momentum}; from 0 to below 1")
        if self.schedule not in ("constant", "cosine") and self._step is None:
            faults.append(f"schedule is {self.schedule!r}; constant, cosine, or FACTOR@EPOCHS as 0.6@150")
        if faults:
            raise InputError("invalid training options", where="training", hint="Change:", faults=faults)

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 0 over all epochs of `steps` each.

        >>> [Plan(warm_up=1, learning_rate=1.0).rate(step, 4) for step in (0, 3, 9)]
        [0.25, 1.0, 1.0]
        >>> [Plan(warm_up=0, learning_rate=1.0, schedule="0.5@2").rate(step, 4) for step in (7, 8, 16)]
        [1.0, 0.5, 0.25]
        """
        rising = self.warm_up * steps
        rate = self.learning_rate * min(1.0, (step + 1) / rising) if rising else self.learning_rate
        if self.schedule == "cosine":
            return rate * (1 + math.cos(math.pi * step / (self.epochs * steps))) / 2
        if self._step is not None:
            factor, epochs = self._step
            return rate * float(factor ** (step // (epochs * steps)))
        return rate

    def identity(self) -> dict[str, Any]:
        """What decides the weights; settings that earlier versions lacked are named where they are not the default."""
        later = {name: getattr(Plan, name) for name in ("optimizer", "momentum", "schedule", "clip")}
        values = {name: value for name, value in asdict(self).items() if name != "log"}
        return {name: value for name, value in values.items() if name not in later or value != later[name]}

    @property
    def _step(self) -> tuple[float, int] | None:
        """FACTOR@EPOCHS as numbers; None for another schedule."""
        factor, _, epochs = self.schedule.partition("@")
        try:
            found = float(factor), int(epochs)
        except ValueError:
            return None
        return found if 0 < found[0] <= 1 and found[1] >= 1 else None
