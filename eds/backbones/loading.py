"""Load a backbone by its text, and check it."""

import importlib
import importlib.util
from typing import Any

from eds.backbones.protocol import Backbone
from eds.backbones.request import GEOMETRY, Request
from eds.backbones.spec import BackboneSpec
from eds.errors import EdsError, InputError, MissingExtraError, UnknownNameError
from eds.registry import BACKBONES


def load(
    text: str,
    *,
    device: str = "auto",
    runtime: str = "auto",
    threads: int | None = None,
    random_init: bool = False,
    precision: str = "float32",
    **preprocessing: Any,
) -> Backbone:
    """Load the backbone of a text; `preprocessing` changes single parameters of it (resize=, size=, crop=, ...).

    Nothing is substituted silently: missing weights, devices or runtimes and unknown options are errors.
    `random_init` is for tests, and the spec records it.
    """
    if faults := [f"unknown setting {name}" for name in preprocessing if name not in GEOMETRY]:
        raise InputError(
            "unknown preprocessing settings", where=text, hint=f"Known: {', '.join(GEOMETRY)}.", faults=faults
        )
    if threads is not None and threads < 1:
        raise InputError(f"threads is {threads}", hint="Use a number from 1 up.")
    request = Request.parse(text).with_options(
        random_init=random_init or None, precision=None if precision == "float32" else precision, **preprocessing
    )
    request = Request(request.loader, request.name, request.weights, request.options, device, runtime, threads)
    factory = factory_of(request)
    try:
        backbone = factory(request)
    except EdsError:
        raise
    except Exception as error:
        if request.loader in BACKBONES:
            raise
        raise _failed(request, "cannot be made", error) from error
    if not isinstance(backbone, Backbone) or not isinstance(backbone.spec, BackboneSpec):
        raise InputError(
            f"the factory returned {type(backbone).__name__}, not a backbone",
            where=request.text,
            hint="A factory returns an object with spec and encode (eds.backbones.Backbone).",
        )
    return backbone


def factory_of(request: Request) -> Any:
    """The loader of the family of that name, or else the user's own `module:object`."""
    if request.loader in BACKBONES:
        return BACKBONES.load(request.loader)
    if not all(part.isidentifier() for part in request.loader.split(".")) or not _found(request.loader):
        try:
            return BACKBONES.load(request.loader)
        except UnknownNameError as error:
            own = (
                f"Or write module:object of your own; Python finds no module {request.loader}: put its file,"
                f" {request.loader.partition('.')[0]}.py, into the project's folder."
            )
            raise UnknownNameError(error.what, where=request.text, hint=f"{error.hint} {own}") from None
    try:
        module = importlib.import_module(request.loader)
    except ModuleNotFoundError as error:
        what = f"{request.loader} needs the package {error.name}, which is not installed"
        raise MissingExtraError(what, where=request.text, hint=f"Run: pip install {error.name}.") from error
    except Exception as error:  # a user's module may fail in any way
        raise _failed(request, "cannot be imported", error) from error
    if not callable(factory := getattr(module, request.name, None)):
        raise UnknownNameError(f"module {request.loader} has no callable {request.name}", where=request.text)
    return factory


def _failed(request: Request, what: str, error: Exception) -> InputError:
    """The error for a user's own backbone that raised an exception."""
    hint = (
        "Correct it; a factory takes the request and returns an object with spec and encode (eds.backbones.Backbone)."
    )
    return InputError(f"it {what} ({type(error).__name__}: {error})", where=request.text, hint=hint)


def _found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
