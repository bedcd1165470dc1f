"""The settings of a project (eds.toml) as pydantic models: every key, its default, its limits and its meaning.

A section of the file is a model, a key is a field; the commented file that `eds init` writes is generated
from them. `load` reports every unknown key and every invalid value at once. Precedence: a command's option,
then the variable EDS_SECTION_KEY (EDS_EXECUTOR for executor.use), then eds.toml, then the default below.
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from eds.choices import (
    MODEL_NAME,
    CategoryRule,
    Device,
    Duplicates,
    ModelRole,
    OnBad,
    StoredType,
    TrainedOn,
    UniverseChoice,
)
from eds.errors import ConfigError
from eds.io.files import forbidden
from eds.registry import EXECUTORS, SAMPLING_ORDERS, SEARCHES, VOTING_RULES, Plugins

FILE = "eds.toml"


@dataclass(frozen=True)
class MemberOf:
    """The value is the name of a member of this family of plug-ins."""

    family: Plugins
    also: str = ""  # a value beside the members

    @property
    def names(self) -> tuple[str, ...]:
        """Every value that is allowed."""
        return (*((self.also,) if self.also else ()), *self.family.names())

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The schema of the type, then the check."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def check(self, name: str) -> str:
        """Return the name; raise if the family has no such member."""
        if name != self.also and name not in self.family:
            raise PydanticCustomError("member", "Input should be {names}", {"names": " or ".join(self.names)})
        return name


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class ProjectSettings(_Section):
    """The project's name and the seed of all its random choices."""

    name: str = Field(default="", description="name shown on pages and in reports")
    seed: int = Field(default=0, ge=0, description="seed of every random choice")


class ImagesSettings(_Section):
    """Where the images are, and what happens to unreadable ones."""

    root: str = Field(
        default="images",
        description="folder of the image files: relative to the project, absolute, or s3://bucket/prefix",
    )
    on_bad: OnBad = Field(default="skip", description="unreadable files: skip and list them, or fail")
    duplicates: Duplicates = Field(
        default="keep", description="identical files: keep them, merge them into one product, or leave-out all but one"
    )


class EmbeddingsSettings(_Section):
    """Which models embed the catalogue, and how."""

    models: tuple[str, ...] = Field(
        default=(), strict=False, description='backbones, each "loader:name[@weights]" or "name=loader:name[@weights]"'
    )
    device: Device = Field(default="auto", description="where models run")
    batch: int = Field(default=32, ge=1, description="images in one forward pass")
    workers: int = Field(default=0, ge=0, description="threads that decode images; 0: one per core")
    dtype: StoredType = Field(default="float32", description="how vectors are stored")


class NeighborsSettings(_Section):
    """How the ranked lists of each model are computed."""

    k: int = Field(default=100, ge=1, description="candidates in each list")
    search: Annotated[str, MemberOf(SEARCHES)] = Field(default="exact", description="search engine")
    exclude_product: bool = Field(default=True, description="leave out images of the query's own product")
    one_per_product: bool = Field(default=True, description="keep only the best image of each product")
    category: CategoryRule = Field(
        default="any", description="which candidates count: any, the same or another category"
    )


class SuspectsSettings(_Section):
    """Which pairs the experts judge, and in which order."""

    k: int = Field(default=6, ge=1, description="depth of the pool: candidates taken from each model's list")
    order: Annotated[str, MemberOf(SAMPLING_ORDERS)] = Field(
        default="random", description="order in which pairs are judged"
    )
    batch: int = Field(default=1000, ge=1, description="pairs in one batch of work")
    universe: UniverseChoice = Field(
        default="rules", description="pairs that p and recall are about: those that lists may hold, or all (the paper)"
    )


class LabelsSettings(_Section):
    """Where the experts' judgements are stored."""

    url: str = Field(
        default="",
        repr=False,  # it may hold a password
        description="database of the judgements: postgresql://...; empty: labels.db in the project",
    )


class AnnotatorSettings(_Section):
    """How browsers reach the annotator."""

    url: str = Field(
        default="",
        pattern=r"^(https?://[^/?#@\s]+(/[A-Za-z0-9._~-]+)*/?)?$",
        description="address that browsers use, as https://labels.example/eds; empty: the address it listens on",
    )
    screens: str = Field(
        default="",
        pattern=r"^([A-Za-z_]\w*(\.[A-Za-z_]\w*)*)?$",
        description="Python module with screens of your own, in the project's folder or installed",
    )
    locale: str = Field(
        default="", description="folder with catalogues of further languages (fr.po), in the project's folder"
    )
    columns: tuple[str, ...] = Field(
        default=("title", "brand", "category", "price"),
        strict=False,
        description="columns of images that experts read below a picture; what the table does not have is left out",
    )
    webhook_hosts: tuple[str, ...] = Field(
        default=(), strict=False, description="HOST:PORT that webhooks may send to although they are not public"
    )
    image_folders: tuple[str, ...] = Field(
        default=(), strict=False, description="folders on the server that leads may import pictures from"
    )


class TruthSettings(_Section):
    """How votes become truth."""

    rule: Annotated[str, MemberOf(VOTING_RULES)] = Field(
        default="majority", description="voting rule; a tie is negative"
    )


class BudgetSettings(_Section):
    """What a judgement costs, for estimates of time and money."""

    experts: int = Field(default=3, ge=1, description="experts who judge every pair")
    seconds: float = Field(default=15.0, ge=0.1, description="seconds an expert needs for one pair")
    hourly: float = Field(default=0.0, ge=0, description="hourly pay of an expert; 0: no amounts of money are shown")
    currency: str = Field(default="EUR", description="currency of that pay")


class AssistantSettings(_Section):
    """A vision-language model that judges pairs beside the experts; it never votes, and no expert sees what it says."""

    url: str = Field(
        default="",
        pattern=r"^(https?://[^?#@\s]+)?$",
        description="address of chat completions, OpenAI's manner: https://host/v1/chat/completions",
    )
    model: str = Field(default="", description="name of the model at that address")
    key: str = Field(default="EDS_ASSISTANT_KEY", description="variable that holds the key; never the key itself")
    send_pictures: bool = Field(default=False, description="whether the catalogue's pictures may be sent there")
    max_calls: int = Field(default=1000, ge=0, description="calls of all questions together, at most")
    price: float = Field(default=0.0, ge=0, description="price of a call, for what it will cost")
    max_cost: float = Field(default=0.0, ge=0, description="most that all calls may cost; 0: no limit but max_calls")


class ExecutorSettings(_Section):
    """Where large work is done: in one piece here, or in parts."""

    use: Annotated[str, MemberOf(EXECUTORS, "plain")] = Field(
        default="plain", description="plain: in one piece; others: in parts"
    )
    workers: int = Field(default=0, ge=0, description="processes on this machine, or of a local Ray; 0: one per core")
    threads: int = Field(default=1, ge=1, description="threads of one task")
    memory: int = Field(default=0, ge=0, description="megabytes that Ray reserves for one task; 0: none")
    gpus: float = Field(default=0.0, ge=0, description="GPUs that Ray reserves for one task that embeds")
    cluster: str = Field(default="local", description="Ray: local, or host:port of a cluster's head")
    work: str = Field(
        default="", description="folder or s3:// prefix for the parts, visible to all machines; empty: .eds/work"
    )
    rows: int = Field(default=262_144, ge=1, description="gallery vectors in one task")
    images: int = Field(default=4096, ge=1, description="images in one task that embeds")
    deadline: float = Field(
        default=3600.0, ge=0, description="seconds after which a task is started again elsewhere; 0: never"
    )
    retries: int = Field(
        default=3, ge=0, description="how often a task is repeated after its worker died or was too slow"
    )


class ModelSettings(_Section):
    """A model of the project: what it is called, how it is loaded, and what it is for."""

    name: str = Field(pattern=f"^{MODEL_NAME}$", description="name of its vectors and lists")
    spec: str = Field(default="", description="backbone; empty: vectors or lists that were imported")
    role: ModelRole = Field(default="generator", description="generator: its lists make the pool; evaluated: not")
    trained_on: tuple[TrainedOn, ...] = Field(
        default=(), strict=False, description="what of this project it was trained on"
    )


class Config(_Section):
    """All settings of a project."""

    project: ProjectSettings = ProjectSettings()
    images: ImagesSettings = ImagesSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    neighbors: NeighborsSettings = NeighborsSettings()
    suspects: SuspectsSettings = SuspectsSettings()
    labels: LabelsSettings = LabelsSettings()
    annotator: AnnotatorSettings = AnnotatorSettings()
    truth: TruthSettings = TruthSettings()
    budget: BudgetSettings = BudgetSettings()
    assistant: AssistantSettings = AssistantSettings()
    executor: ExecutorSettings = ExecutorSettings()
    models: tuple[ModelSettings, ...] = Field(default=(), strict=False)

    @field_validator("models")
    @classmethod
    def _named_once(cls, models: tuple[ModelSettings, ...]) -> tuple[ModelSettings, ...]:
        names = [model.name for model in models]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise PydanticCustomError("twice", "{names} is there twice", {"names": ", ".join(twice)})
        return models

    def value(self, name: str) -> Any:
        """The setting called `section.key`; lists come as lists, as JSON and TOML have them."""
        section, _, key = name.partition(".")
        value = getattr(getattr(self, section), key)
        return list(value) if isinstance(value, tuple) else value


SECTIONS: dict[str, type[_Section]] = {
    name: type(field.default) for name, field in Config.model_fields.items() if isinstance(field.default, _Section)
}
MODELS = "models"  # the tables [[models]]


def load(path: Path, environment: Mapping[str, str] | None = None) -> Config:
    """Read eds.toml, then the EDS_* variables; raise one ConfigError for all faults."""
    values = _read(path)
    variables = _read_variables(os.environ if environment is None else environment)
    faults = _find_faults(values, lambda section, key: f"{section}.{key}")
    wrong_variables = _find_faults(variables, lambda section, key: f"variable {_variable(section, key)}", strict=False)
    if faults or wrong_variables:
        # No cause: pydantic's own error holds the values, and one of them may be a password.
        raise _refusal(path, faults, wrong_variables) from None
    overrides = Config.model_validate(variables, strict=False).model_dump(exclude_unset=True)
    merged = {section: {**values.get(section, {}), **overrides.get(section, {})} for section in SECTIONS}
    return Config.model_validate({**merged, MODELS: values.get(MODELS, ())})


def load_models(path: Path) -> tuple[ModelSettings, ...]:
    """Read the tables [[models]] of eds.toml as it is now; raise one ConfigError for all their faults."""
    values = {MODELS: _read(path).get(MODELS, ())}
    if faults := _find_faults(values, lambda section, key: f"{section}.{key}"):
        raise _refusal(path, faults, []) from None
    return Config.model_validate(values).models


def with_models(path: Path, models: Iterable[ModelSettings], renamed: Mapping[str, str] | None = None) -> str:
    """The text of eds.toml with exactly these tables [[models]]; comments and everything else stay as they are.

    Models that are `renamed` (from, to) have their new name in embeddings.models, too.
    """
    import tomlkit

    document = tomlkit.parse(path.read_text(encoding="utf-8"))
    entries = document.get(MODELS)
    if entries is None:
        document[MODELS] = tomlkit.aot()
        entries = document[MODELS]
    wanted = {model.name: model.model_dump(exclude_defaults=True, mode="json") for model in models}
    for at in reversed([at for at, entry in enumerate(entries) if entry.get("name") not in wanted]):
        del entries[at]
    known = {entry.get("name"): entry for entry in entries}
    for name, values in wanted.items():
        values["role"] = values.get("role", "generator")  # written out, as it is what people look for
        entry = known.get(name)
        if entry is None:
            entry = tomlkit.table()
            entries.append(entry)
        for key in [key for key in entry if key not in values]:
            del entry[key]
        for key, value in values.items():
            if entry.get(key) != value:
                entry[key] = value
    if not wanted:
        del document[MODELS]
    named = document.get("embeddings", {}).get("models", [])
    for at, text in enumerate(named):
        name, equals, spec = str(text).partition("=")
        if equals and name in (renamed or {}):
            named[at] = f"{(renamed or {})[name]}={spec}"
    return re.sub(r"^([^#\n].*)\n\[\[models\]\]", r"\1\n\n[[models]]", tomlkit.dumps(document), flags=re.MULTILINE)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except PermissionError as error:
        raise forbidden(path, ConfigError) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"invalid TOML ({error})", where=str(path), hint="Correct that line.") from error


def template(name: str, values: Mapping[str, Any] | None = None) -> str:
    """A new eds.toml: every key with its meaning; keys that keep their default are commented out."""
    values = {"project.name": name, **(values or {})}
    lines = ["# Settings of this project. A key that is commented out has its default value.\n"]
    for section, settings in SECTIONS.items():
        lines.append(f"\n[{section}]  # {(settings.__doc__ or '').rstrip('.')}\n")
        for key, field in settings.model_fields.items():
            full = f"{section}.{key}"
            mark = "" if full in values else "# "
            options = _options(field)
            listed = f" ({', '.join(options)})" if options else ""
            lines.append(f"{mark}{key} = {_toml(values.get(full, field.default))}  # {field.description}{listed}\n")
    lines.append(f"\n# Models that commands embed are recorded below, one table [[{MODELS}]] each: eds models list.\n")
    return "".join(lines)


def _options(field: FieldInfo) -> tuple[str, ...]:
    """The values that a choice may take; none for other settings."""
    families = [part for part in field.metadata if isinstance(part, MemberOf)]
    if families:
        return families[0].names
    return get_args(field.annotation) if getattr(field.annotation, "__origin__", None) is Literal else ()


def _read_variables(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The values of the EDS_* variables as sections and keys; a list is separated by commas."""
    values: dict[str, dict[str, Any]] = {}
    for section, key, field in _all_fields():
        text = environment.get(_variable(section, key))
        if text is not None:
            many = isinstance(field.default, tuple)
            parts = [part.strip() for part in text.split(",") if part.strip()]
            values.setdefault(section, {})[key] = parts if many else text
    return values


def _all_fields() -> Iterator[tuple[str, str, FieldInfo]]:
    for section, settings in SECTIONS.items():
        for key, field in settings.model_fields.items():
            yield section, key, field


def _variable(section: str, key: str) -> str:
    return "EDS_EXECUTOR" if (section, key) == ("executor", "use") else f"EDS_{section}_{key}".upper()


def _find_faults(values: Mapping[str, Any], name: Callable[[str, str], str], strict: bool | None = None) -> list[str]:
    """Every fault of the values as a sentence; none if they are valid."""
    try:
        Config.model_validate(values, strict=strict)
    except ValidationError as error:
        return [_describe(details, name) for details in error.errors(include_url=False)]
    return []


def _describe(details: ErrorDetails, name: Callable[[str, str], str]) -> str:
    section, *keys = (str(part) for part in details["loc"])
    if section == MODELS:
        return _describe_model(details, keys)
    if not keys:
        if details["type"] == "extra_forbidden":
            return f"unknown section [{section}]{_suggest(section, SECTIONS)}"
        return f"{section} must be a section: write [{section}]"
    fields = SECTIONS[section].model_fields
    if details["type"] == "extra_forbidden":
        return f"unknown key {section}.{keys[0]}{_suggest(keys[0], fields)}"
    value = f" is {details['input']!r}" if fields[keys[0]].repr else " is invalid"
    rule = details["msg"].partition(", unable")[0].removeprefix("Input should ").replace("tuple", "list")
    return f"{name(section, keys[0])}{value}; it must {rule}"


def _describe_model(details: ErrorDetails, keys: list[str]) -> str:
    if details["type"] == "twice":
        return f"[[{MODELS}]]: {details['msg']}"
    if len(keys) < 2:
        return f"{MODELS} must be tables: write [[{MODELS}]]"
    where = f"[[{MODELS}]] {int(keys[0]) + 1}"
    if details["type"] == "extra_forbidden":
        return f"{where}: unknown key {keys[1]}{_suggest(keys[1], ModelSettings.model_fields)}"
    if details["type"] == "missing":
        return f"{where}: {keys[1]} is missing"
    rule = details["msg"].partition(", unable")[0].partition(" should ")[2].replace("tuple", "list")
    return f"{where}: {keys[1]} is {details['input']!r}; it must {rule}"


def _suggest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"


def _refusal(path: Path, faults: list[str], variables: list[str]) -> ConfigError:
    """One error for all faults; the file is blamed only for its own."""
    everything = [*faults, *variables]
    hints = ["eds init writes a new eds.toml that explains every key."] if faults else []
    hints += ["Unset the variable, or give it a valid value."] if variables else []
    return ConfigError(
        everything[0] if len(everything) == 1 else f"{len(everything)} faults",
        where=" and ".join([str(path)] * bool(faults) + ["variables"] * bool(variables and len(everything) > 1)),
        hint=" ".join(hints),
        faults=everything if len(everything) > 1 else (),
    )


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's
    return str(value)
