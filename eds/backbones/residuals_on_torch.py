"""A network of inverted residual blocks as timm's torch network: for GPUs, and for training."""

import timm
import torch

from eds.backbones import network, weights
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.state_file import Arrays

OUTER = {"stem": ("conv_stem", "bn1"), "head": ("conv_head", "bn2"), "classifier": ("classifier", "")}
EXPANDED = {"expand": ("conv_pw", "bn1"), "depthwise": ("conv_dw", "bn2"), "project": ("conv_pwl", "bn3")}
SEPARABLE = {"depthwise": ("conv_dw", "bn1"), "project": ("conv_pw", "bn2")}
LEAVES = {"scale": "weight", "shift": "bias", "mean": "running_mean", "variance": "running_var"}  # of a batch norm


def on_torch(tensors: Arrays, architecture: str, spec: BackboneSpec, request: Request) -> network.NetworkBackbone:
    """The tensors, under the names of `inverted_residuals`, in timm's network; all of them are used."""
    classes = len(tensors["classifier.bias"]) if "classifier.bias" in tensors else 0
    model = weights.build_seeded(lambda: _create(architecture, classes)).eval()
    weights.fit(model, timm_names(tensors, model), spec.text)
    if classes and spec.pooling != "logits":
        model.reset_classifier(0)  # type: ignore[operator]
    return network.backbone(model, spec, request)


def timm_names(tensors: Arrays, model: torch.nn.Module) -> weights.State:
    """The tensors under timm's names."""
    stages = [(stage, block) for stage, blocks in enumerate(model.blocks) for block in range(len(blocks))]  # type: ignore[arg-type]
    result: weights.State = {}
    for name, values in tensors.items():
        *block, layer, leaf = name.split(".")
        prefix, layers = "", OUTER
        if block:
            number = int(block[1])
            stage, place = stages[number] if number < len(stages) else (-1, number)
            prefix = f"blocks.{stage}.{place}."
            layers = EXPANDED if f"blocks.{number}.expand.weight" in tensors else SEPARABLE
        convolution, norm = layers[layer]
        target = f"{norm}.{LEAVES[leaf]}" if leaf in LEAVES else f"{convolution}.{leaf}"
        result[prefix + target] = torch.from_numpy(values)
    return result


def _create(architecture: str, classes: int) -> torch.nn.Module:
    model: torch.nn.Module = timm.create_model(architecture, pretrained=False, num_classes=classes)
    return model
