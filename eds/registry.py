"""Plug-ins: families of interchangeable things, one file each, found by name and imported on use.

A family is a package folder. Each module in it is a member: its name is the file name with hyphens
(or its constant `NAME`), its help the first line of its docstring, `EXTRA` names the extra of eds
that installs what it imports, and `LEARNS` what a hashing baseline learns. These are read from the
text of the file, so that the command line and the configuration can list the members without
importing them. Modules that begin with an underscore hold what members share. Installed packages add
members by entry points of the group that has the name of the package folder.
"""

import difflib
import functools
import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eds.distribution import install as install_extra
from eds.errors import MissingExtraError, UnknownNameError

_HELP = re.compile(r'\A(?:#.*\n|\s)*[rR]?"""\s*(.*?)\s*(?:"""|\n)')
_CONSTANT = re.compile(r'^(NAME|EXTRA|LEARNS) = "([^"]*)"', re.MULTILINE)


@dataclass(frozen=True)
class Plugin:
    """A member of a family: where it lives, and what can be said about it without importing it."""

    target: str  # "module:object", or a module
    help: str
    extra: str = ""
    learns: str = "classes"  # of a hashing baseline: what labels it learns; of another package it is not known


class Plugins:
    """One family: the modules of `package`, each with an object called `attribute` (empty: the module itself).

    >>> parts = Plugins("json", "part of json")
    >>> parts.names()
    ('decoder', 'encoder', 'scanner', 'tool')
    >>> parts.help("decoder")
    'Implementation of JSONDecoder'
    >>> parts.load("encode")
    Traceback (most recent call last):
    eds.errors.UnknownNameError: unknown part of json 'encode'. Did you mean encoder? Known: decoder, ...
    """

    def __init__(self, package: str, noun: str, attribute: str = "") -> None:
        self.package, self.noun, self.attribute = package, noun, attribute

    def names(self) -> tuple[str, ...]:
        """The names of all members, sorted."""
        return tuple(sorted(self._all))

    def help(self, name: str) -> str:
        """One line that says what the member does."""
        return self._find(name).help

    def learns(self, name: str) -> str:
        """What labels a hashing baseline learns; empty: none."""
        return self._find(name).learns

    def load(self, name: str) -> Any:
        """Import the member of that name; the error says which names there are, or what to install."""
        plugin = self._find(name)
        module, _, attribute = plugin.target.partition(":")
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package == self.package.partition(".")[0]:
                raise
            install = install_extra(plugin.extra) if plugin.extra else f"pip install {package}"
            raise MissingExtraError(
                f"{self.noun} {name} needs the package {error.name}, which is not installed", hint=f"Run: {install}."
            ) from error
        return getattr(loaded, attribute) if attribute else loaded

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _find(self, name: str) -> Plugin:
        if name in self._own:  # without asking the installed packages, which takes some milliseconds
            return self._own[name]
        known = self._all
        if name not in known:
            raise unknown_name(self.noun, name, known)
        return known[name]

    @functools.cached_property
    def _own(self) -> Mapping[str, Plugin]:
        top, *inner = self.package.split(".")
        spec = importlib.util.find_spec(top)  # finding a top package imports nothing
        folders = [Path(place, *inner) for place in (spec and spec.submodule_search_locations) or ()]
        files = sorted(file for folder in folders for file in folder.glob("*.py") if not file.stem.startswith("_"))
        return dict(self._read(file) for file in files)

    def _read(self, file: Path) -> tuple[str, Plugin]:
        text = file.read_text(encoding="utf-8")
        constants = dict(_CONSTANT.findall(text))
        summary = _HELP.match(text)
        target = ":".join(filter(None, (f"{self.package}.{file.stem}", self.attribute)))
        name = constants.get("NAME", file.stem.replace("_", "-"))
        texts = summary[1] if summary else "", constants.get("EXTRA", ""), constants.get("LEARNS", "")
        return name, Plugin(target, *texts)

    @property
    def _all(self) -> Mapping[str, Plugin]:
        points = importlib.metadata.entry_points(group=self.package)
        others = {
            point.name: Plugin(point.value, f"from package {point.dist.name if point.dist else 'unknown'}")
            for point in points
        }
        return {**others, **self._own}


def unknown_name(noun: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not one of the known ones, with the nearest of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return UnknownNameError(f"unknown {noun} {name!r}", hint=f"{hint}Known: {', '.join(names)}.")


MEASURE_FAMILIES = Plugins("eds.metrics.measures", "family of measures")
VOTING_RULES = Plugins("eds.truth.rules", "voting rule", "decide")
ANALYSES = Plugins("eds.analysis.analyses", "analysis")
SAMPLING_ORDERS = Plugins("eds.suspects.orders", "sampling order", "deal")
SEARCHES = Plugins("eds.neighbors.search", "search engine", "Search")
EXECUTORS = Plugins("eds.parallel.backends", "executor", "Backend")
BACKBONES = Plugins("eds.backbones.families", "backbone family", "load")
READERS = Plugins("eds.images.readers", "reader of catalogues")
SECTIONS = Plugins("eds.reports.sections", "report section", "SECTION")
BASELINES = Plugins("eds.training.baselines", "hashing baseline", "fit")
DATASETS = Plugins("eds.training.datasets", "dataset of hashing studies")
