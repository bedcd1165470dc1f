"""Inputs of reports on unlike projects: empty, barely judged, with one model, without a new one, with sixty."""

from collections.abc import Callable

from eds.reports import ReportInputs
from tests.reports.example import example_inputs

SIXTY = tuple(f"late-{at:02}" if at % 3 == 0 else f"model-{at:02}-with-a-long-name" for at in range(60))
VARIANTS: dict[str, Callable[[], ReportInputs]] = {
    "empty": lambda: ReportInputs("Empty", 6),
    "tiny": lambda: example_inputs(queries=3),
    "partly judged": lambda: example_inputs(judged=0.3),
    "one model": lambda: example_inputs(models=("alpha",)),
    "generators only": lambda: example_inputs(models=("alpha", "beta")),
    "newcomer": example_inputs,
    "sixty models": lambda: example_inputs(models=SIXTY, resamples=0, gallery=0),
}
