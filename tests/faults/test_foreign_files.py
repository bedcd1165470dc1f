"""200 damaged or twisted files for every importer: no traceback, and nothing that makes no sense is taken in."""

import warnings
from pathlib import Path

import pytest

from tests.faults.foreign_files import IMPORTERS, run

TIMES = 200


@pytest.mark.parametrize("name", list(IMPORTERS))
def test_every_mutation_is_read_or_told(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parsers on damaged files
        tally = run(name, TIMES, tmp_path)
    assert tally.faults == []
    assert sum(tally.counts.values()) == TIMES
    assert tally.counts["told"] > 0
