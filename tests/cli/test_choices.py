"""The command line is lazy, so it writes down what the library offers; each such list is the library's."""

from eds.benchmarks.reproduce import release_files
from eds.cli import benchmarks_reproduce


def test_lists_without_an_option_of_their_own_are_the_librarys() -> None:
    assert set(benchmarks_reproduce.KINDS) == set(release_files.KINDS)
