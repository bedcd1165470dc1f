"""The specification's quantities that eds.truth and eds.intervals answer, by name; inputs are keyword arguments."""

from collections.abc import Callable
from typing import Any

from eds import truth
from eds.intervals import clopper_pearson_interval, wilson_interval

QUANTITIES: dict[str, Callable[..., Any]] = {
    "majority_vote": truth.majority_vote,
    "expected_votes_early_stop": truth.expected_votes_early_stop,
    "majority_accuracy": truth.majority_accuracy,
    "agreement": truth.agreement,
    "dawid_skene": truth.dawid_skene,
    "label_contamination": truth.label_contamination,
    "auc_under_label_noise": truth.auc_under_label_noise,
    "wilson_interval": lambda **given: list(wilson_interval(**given)),
    "clopper_pearson_interval": lambda **given: list(clopper_pearson_interval(**given)),
}
