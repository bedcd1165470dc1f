"""200 damaged or twisted files for every importer: no traceback, and nothing that makes no sense is taken in."""

import warnings
from pathlib import Path

import click
import pytest

from annotator_ui.api.endpoints import ENDPOINTS
from eds.backbones.request import ADDRESSED
from eds.benchmarks.formats import format_names
from eds.cli import cli
from eds.embeddings.formats import READERS as VECTOR_FILES
from eds.labels.vote_files import FORMATS as VOTE_FILES
from eds.registry import READERS
from tests.faults.foreign_files import IMPORTERS
from tests.faults.mutations import run
from tests.generated import every_command

TIMES = 200
BY = {  # commands with files of people's own -> what mutates such files; formats of benchmarks are known by their names
    "images import": "images",
    "suspects add": "gold",
    "suspects gold": "gold",
    "labels campaigns add": "gold",
    "labels gold add": "gold",
    "labels guideline save": "guideline",
    "labels import": "labels",
    "labels restore": "labels restore",
    "labels serve": "serve openid",
    "assistant import": "assistant",
    "truth agreement": "gold",
    "metrics score": "embeddings",
    "benchmarks leaderboard": "leaderboard",
    "benchmarks reproduce vsd": "benchmarks vsd",
    "demo": "images",
    "neighbors search": "",  # a picture: what opens pictures is tested in tests/imaging
}


@pytest.mark.parametrize("name", list(IMPORTERS))
def test_every_mutation_is_read_or_told(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parsers on damaged files
        tally = run(name, IMPORTERS[name], TIMES, tmp_path)
    assert tally.faults == []
    assert sum(tally.counts.values()) == TIMES
    assert tally.counts["refused"] > 0


def test_no_importer_is_left_out() -> None:
    wanted = {f"images {name}" for name in READERS} | {f"benchmarks {name}" for name in format_names("read")}
    wanted |= {f"embeddings {suffix}" for suffix in VECTOR_FILES} | {f"labels {kind}" for kind in VOTE_FILES}
    wanted |= {f"model {name}" for name in ADDRESSED}
    wanted |= {f"api {one.path}" for one in ENDPOINTS if one.body is not None}
    assert wanted - {name.partition(",")[0] for name in IMPORTERS} == set()


def test_no_command_that_reads_a_file_is_left_out() -> None:
    reading = set()
    for words, command in every_command(cli, []):
        for one in command.params:
            files = type(one.type) is click.Path and one.type.file_okay and (one.type.exists or one.name == "source")
            if files or one.name in ("files", "openid") or "FILE" in str(getattr(one, "metavar", "")):
                reading.add(" ".join(words))
    of_formats = {f"benchmarks import {name}" for name in format_names("read")}
    assert reading - of_formats == set(BY)
    for call, importer in BY.items():
        assert any(name.startswith(importer) for name in IMPORTERS), call
