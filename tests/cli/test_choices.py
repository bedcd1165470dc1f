"""The command line is lazy, so it writes down what the library offers; each such list is the library's."""

from collections.abc import Iterable
from typing import get_args

import click
import pytest

from eds import config
from eds.benchmarks.reproduce import release_files
from eds.cli import benchmarks_reproduce, cli, neighbors
from eds.registry import SEARCHES
from tests.generated import every_command

OFFERED = {
    "neighbors mine --index": {"flat"}
    | {name.removeprefix("faiss-") for name in SEARCHES if name.startswith("faiss-")},
}
COMMANDS = {" ".join(words[1:]): command for words, command in every_command(cli, ["eds"])}


@pytest.mark.parametrize(("call", "offered"), OFFERED.items(), ids=OFFERED)
def test_an_option_offers_what_the_library_takes(call: str, offered: Iterable[str]) -> None:
    words, _, option = call.rpartition(" ")
    (found,) = [one for one in COMMANDS[words].params if option in one.opts]
    assert isinstance(found.type, click.Choice)
    assert set(found.type.choices) == set(offered)


def test_engines_are_offered_by_their_kind() -> None:
    kinds = {name.partition("-")[0] for name in SEARCHES}
    options = get_args(config.NeighborsSettings.model_fields["engine"].annotation)
    assert set(neighbors.SEARCHES) == set(options) == kinds


def test_lists_without_an_option_of_their_own_are_the_librarys() -> None:
    assert set(benchmarks_reproduce.KINDS) == set(release_files.KINDS)
