"""eds.toml as frozen dataclasses: every setting of a project, its default and what it means.

A section of the file is a dataclass here, a key is a field. Unknown keys and values of the wrong
kind are refused, all at once. Precedence: a command's option, then the variable EDS_SECTION_KEY
(EDS_ENGINE for engine.use), then eds.toml, then the default below.
"""

import difflib
import json
import os
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from eds.errors import ConfigError
from eds.files import forbidden

FILE = "eds.toml"


def setting(
    default: Any, meaning: str, *, low: float | None = None, options: tuple[str, ...] = (), variable: str = ""
) -> Any:
    """A field with its meaning and the values it may take; `variable` if it is not called EDS_SECTION_KEY."""
    told = {"meaning": meaning, "low": low, "options": options, "variable": variable}
    return field(default=default, metadata=told)


@dataclass(frozen=True)
class ProjectSettings:
    """What the project is called, and the seed of everything random in it."""

    name: str = setting("", "the name that pages and reports show")
    seed: int = setting(0, "seed of every random choice", low=0)


@dataclass(frozen=True)
class ImagesSettings:
    """Where the pictures are and what is done with bad ones."""

    root: str = setting(
        "images", "folder of the image files; relative to the project, or absolute; or s3://bucket/prefix"
    )
    on_bad: str = setting("skip", "an unreadable file: skip and list it, or fail", options=("skip", "fail"))


@dataclass(frozen=True)
class EmbeddingsSettings:
    """Which models embed the catalogue, and how."""

    models: tuple[str, ...] = setting((), 'backbone specs, each "loader:name[@weights]" or "name=loader:name"')
    device: str = setting("auto", "where models run", options=("auto", "cpu", "cuda", "mps"))
    batch: int = setting(32, "images in one forward pass", low=1)
    workers: int = setting(0, "threads that decode images; 0: one per core", low=0)
    dtype: str = setting("float32", "how vectors are stored", options=("float32", "float16"))


@dataclass(frozen=True)
class NeighborsSettings:
    """How each model's lists are made."""

    k: int = setting(100, "candidates in each list", low=1)
    engine: str = setting("exact", "what searches", options=("exact", "faiss"))
    exclude_product: bool = setting(True, "leave out images of the query's own product")
    one_per_product: bool = setting(True, "keep only the best image of each product")
    category: str = setting(
        "any", "which candidates count: any, same or other category", options=("any", "same", "other")
    )


@dataclass(frozen=True)
class SuspectsSettings:
    """Which pairs are worth an expert's time, and in which order."""

    k: int = setting(6, "depth of the pool: candidates taken from each model's list", low=1)
    order: str = setting("random", "which pairs come first", options=("random", "fusion", "bandit"))
    batch: int = setting(1000, "pairs in one batch of work", low=1)


@dataclass(frozen=True)
class LabelsSettings:
    """Where judgements are kept."""

    url: str = setting("", "database of the judgements; empty: labels.db in the project; else postgresql://...")


@dataclass(frozen=True)
class TruthSettings:
    """How votes become truth."""

    rule: str = setting("majority", "the rule that decides; a tie is negative")


@dataclass(frozen=True)
class BudgetSettings:
    """What a judgement costs: for the figures told before anybody starts."""

    experts: int = setting(3, "experts who judge every pair", low=1)
    seconds: float = setting(15.0, "an expert's seconds for one pair", low=0.1)
    hourly: float = setting(0.0, "an expert's pay by the hour; 0: money is not shown", low=0)
    currency: str = setting("EUR", "the currency of that pay")


@dataclass(frozen=True)
class EngineSettings:
    """Where work is done that is large: here in one piece, in parts by several processes, or on a cluster."""

    use: str = setting(
        "plain", "plain: in one piece; the others: in parts, one after the other, by processes, on a cluster",
        options=("plain", "serial", "pool", "ray"), variable="EDS_ENGINE",
    )  # fmt: skip
    workers: int = setting(0, "processes of the pool, or of a local Ray; 0: as many as there are cores", low=0)
    threads: int = setting(1, "threads of one task", low=1)
    memory: int = setting(0, "megabytes of one task, for Ray to plan with; 0: not told", low=0)
    gpus: float = setting(0.0, "GPUs of one task that embeds, for Ray to plan with", low=0)
    cluster: str = setting("local", "Ray: local, or host:port of a cluster's head")
    work: str = setting(
        "", "folder (from the project) or s3:// prefix of parts, seen by all machines; empty: .eds/work"
    )
    rows: int = setting(262_144, "vectors of the gallery in one task", low=1)
    images: int = setting(4096, "images in one task that embeds", low=1)
    deadline: float = setting(3600.0, "seconds after which a task is begun once more elsewhere; 0: never", low=0)
    retries: int = setting(3, "how often a task is done again whose worker died, or begun once more", low=0)


@dataclass(frozen=True)
class Config:
    """All settings of a project."""

    project: ProjectSettings = ProjectSettings()
    images: ImagesSettings = ImagesSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    neighbors: NeighborsSettings = NeighborsSettings()
    suspects: SuspectsSettings = SuspectsSettings()
    labels: LabelsSettings = LabelsSettings()
    truth: TruthSettings = TruthSettings()
    budget: BudgetSettings = BudgetSettings()
    engine: EngineSettings = EngineSettings()

    def value(self, name: str) -> Any:
        """The setting called `section.key`; lists come as lists, as JSON and TOML have them."""
        section, _, key = name.partition(".")
        found = getattr(getattr(self, section), key)
        return list(found) if isinstance(found, tuple) else found


def load(path: Path, environment: Mapping[str, str] | None = None) -> Config:
    """Read eds.toml, then the EDS_* variables; refuse with all faults at once."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except PermissionError as error:
        raise forbidden(path, ConfigError) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"is not valid TOML ({error})", where=str(path), do="Mend that line.") from error
    faults: list[str] = []
    wrong_variables: list[str] = []
    found: dict[str, dict[str, Any]] = {}
    known = {name: settings for name, settings, _ in _all_settings()}
    for section, values in given.items():
        if section not in known:
            faults.append(f"unknown section [{section}]{_nearest(section, known)}")
        elif not isinstance(values, dict):
            faults.append(f"{section} must be a section: write [{section}]")
        else:
            keys = {item.name: item for item in fields(known[section])}
            for key, value in values.items():
                if key not in keys:
                    faults.append(f"unknown key {section}.{key}{_nearest(key, keys)}")
                else:
                    _take(found, section, keys[key], value, f"{section}.{key}", faults)
    for section, _, item in _all_fields():
        name = item.metadata["variable"] or f"EDS_{section}_{item.name}".upper()
        text = (os.environ if environment is None else environment).get(name)
        if text is not None:
            _take(found, section, item, _from_text(text, _kind(section, item)), f"variable {name}", wrong_variables)
    if faults or wrong_variables:
        raise _refusal(path, faults, wrong_variables)
    return Config(**{section: known[section](**values) for section, values in found.items()})


def _refusal(path: Path, faults: list[str], variables: list[str]) -> ConfigError:
    """One error for all faults; the file is blamed only for its own."""
    told = [*faults, *variables]
    mend = ["Every key and its meaning stand in the eds.toml that eds init writes into a new folder."] if faults else []
    mend += ["Unset the variable, or give it such a value."] if variables else []
    return ConfigError(
        told[0] if len(told) == 1 else f"{len(told)} faults",
        where=" and ".join([str(path)] * bool(faults) + ["variables"] * bool(variables and len(told) > 1)),
        do=" ".join(mend),
        faults=told if len(told) > 1 else (),
    )


def template(name: str, values: Mapping[str, Any] | None = None) -> str:
    """A fresh eds.toml: every setting with its meaning; those at their default are commented out."""
    given = {"project.name": name, **(values or {})}
    lines = ["# Settings of this project. A key that is commented out stands at its default.\n"]
    for section, settings, doc in _all_settings():
        lines.append(f"\n[{section}]  # {doc}\n")
        for item in fields(settings):
            key = f"{section}.{item.name}"
            value = given.get(key, item.default)
            options = f" ({', '.join(item.metadata['options'])})" if item.metadata["options"] else ""
            mark = "" if key in given else "# "
            lines.append(f"{mark}{item.name} = {_toml(value)}  # {item.metadata['meaning']}{options}\n")
    return "".join(lines)


def _all_settings() -> Iterator[tuple[str, Any, str]]:
    for item in fields(Config):
        settings = type(item.default)
        yield item.name, settings, (settings.__doc__ or "").rstrip(".")


def _all_fields() -> Iterator[tuple[str, Any, "Field[Any]"]]:
    for section, settings, _ in _all_settings():
        for item in fields(settings):
            yield section, settings, item


def _kind(section: str, item: "Field[Any]") -> Any:
    settings = {name: kind for name, kind, _ in _all_settings()}[section]
    return typing.get_type_hints(settings)[item.name]


def _take(
    found: dict[str, dict[str, Any]], section: str, item: "Field[Any]", value: Any, told: str, faults: list[str]
) -> None:
    """Put one value into its place, or its fault into the list."""
    kind = _kind(section, item)
    if isinstance(kind, types.GenericAlias):
        good = isinstance(value, list) and all(isinstance(part, str) for part in value)
        wanted, value = "a list of text", tuple(value) if good else value
    else:
        value = float(value) if kind is float and type(value) is int else value
        good, wanted = (
            type(value) is kind,
            {int: "a whole number", float: "a number", bool: "true or false", str: "text"}[kind],
        )
    low, options = item.metadata["low"], item.metadata["options"]
    if not good:
        faults.append(f"{told} is {value!r}; it must be {wanted}")
    elif low is not None and not value >= low:
        faults.append(f"{told} is {value!r}; it must be at least {low}")
    elif options and value not in options:
        faults.append(f"{told} is {value!r}; it must be one of {', '.join(options)}")
    else:
        found.setdefault(section, {})[item.name] = value


def _from_text(text: str, kind: Any) -> Any:
    if isinstance(kind, types.GenericAlias):
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's
    return str(value)
