"""The paper's fourteen presets, and DINOv2, from files as their authors publish them, with random tensors in them.

Each file is written in its authors' layout, loaded by the preset's name, and its vector compared with that of the
network that the tensors came from: python -m tests.speed.authors_files [PRESET ...]. It writes up to 400 MB at a
time, and takes some minutes; tests/backbones/test_*_family.py hold the same layouts on small networks.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import timm
import torch

from eds.backbones import PRESETS, load, preset_text
from tests.backbones.test_timm_family import arrays_of_vit

State = dict[str, torch.Tensor]
MOCO_HEAD = {"fc.0.weight": (2048, 2048), "fc.0.bias": (2048,), "fc.2.weight": (128, 2048), "fc.2.bias": (128,)}


def made(name: str, **options: Any) -> torch.nn.Module:
    """A network of timm with random tensors, running means and scales of layers among them."""
    torch.manual_seed(0)
    model: torch.nn.Module = timm.create_model(name, **options).eval()
    for key, value in model.state_dict().items():
        if key.endswith(("running_mean", "bias")):
            value.normal_(0, 0.05)
        elif key.endswith(("running_var", "gamma", "gamma_1", "gamma_2", "ls1.gamma", "ls2.gamma")):
            value.uniform_(0.5, 1.5)
    return model


def convnext(state: State) -> State:
    """Facebook's names of timm's tensors."""
    changes = (
        (r"^stem\.", "downsample_layers.0."),
        (r"^stages\.(\d+)\.downsample\.", r"downsample_layers.\1."),
        (r"^stages\.(\d+)\.blocks\.(\d+)\.", r"stages.\1.\2."),
        (r"conv_dw", "dwconv"),
        (r"mlp\.fc(\d)", r"pwconv\1"),
        (r"^head\.norm", "norm"),
        (r"^head\.fc", "head"),
    )
    found = {}
    for key, value in state.items():
        for pattern, new in changes:
            key = re.sub(pattern, new, key)
        found[key] = value
    return found


def trunk(state: State) -> State:
    return {key: value for key, value in state.items() if not key.startswith(("fc.", "head.", "classifier."))}


def drawn(shapes: dict[str, tuple[int, ...]]) -> State:
    return {name: torch.randn(shape) for name, shape in shapes.items()}


def save(value: Any) -> Callable[[Path], None]:
    return lambda path: torch.save(value, path)


def beit(state: State) -> Any:
    index = torch.zeros(197, 197, dtype=torch.int64)
    return {"model": {**state, **{f"blocks.{block}.attn.relative_position_index": index for block in range(12)}}}


def moco(state: State) -> Any:
    heads = drawn(MOCO_HEAD)
    both = {f"module.encoder_q.{name}": value for name, value in {**trunk(state), **heads}.items()}
    other = {name.replace("encoder_q", "encoder_k"): torch.randn_like(value.float()) for name, value in both.items()}
    return {"epoch": 800, "arch": "resnet50", "state_dict": {**both, **other, "module.queue": torch.randn(128, 65536)}}


def swav(state: State) -> Any:
    heads = {
        "projection_head.0.weight": (2048, 2048),
        "projection_head.3.bias": (128,),
        "prototypes.weight": (3000, 128),
    }
    return {f"module.{name}": value for name, value in {**trunk(state), **drawn(heads)}.items()}


def mae(state: State) -> Any:
    decoder = drawn({"mask_token": (1, 1, 512), "decoder_pos_embed": (1, 197, 512), "decoder_embed.weight": (512, 768)})
    return {"model": {**trunk(state), **decoder}}


def argus(state: State) -> Any:
    heads = drawn({"classifier.weight": (350, 2208), "classifier.bias": (350,)})
    return {"epoch": 50, "state_dict": {**trunk(state), **heads}}


def vit(model: torch.nn.Module, path: Path) -> None:
    with path.open("wb") as stream:
        np.savez(stream, **arrays_of_vit(model))


def layouts() -> dict[str, tuple[str, dict[str, Any], Callable[[State], Any]]]:
    """By preset the architecture, its options, and what the authors' file holds of the state."""

    def plain(state: State) -> Any:
        return state

    dense = ("densenet161", {"num_classes": 0}, argus)
    return {
        "argus": dense,
        "argus_id": dense,
        "argus_id_c": dense,
        "dino": ("vit_small_patch8_224", {"num_classes": 0}, plain),
        "beit": ("beit_base_patch16_224", {"num_classes": 21841}, beit),
        "resnet50": ("resnet50", {}, plain),
        "convnext": ("convnext_base", {}, lambda state: {"model": convnext(state)}),
        "moco": ("resnet50", {}, moco),
        "swav": ("resnet50", {}, swav),
        "mae": ("vit_base_patch16_224.mae", {"num_classes": 0}, mae),
        "noisy_student": ("tf_efficientnet_b7", {}, plain),
        "dinov2": (
            "vit_base_patch14_dinov2",
            {"num_classes": 0},
            lambda state: {**state, "mask_token": torch.zeros(1, 768)},
        ),
    }


def check(preset: str, folder: Path) -> str:
    """Write the preset's file, load it, and say how far its vector is from the network's own."""
    steps = PRESETS[preset].preprocessing if preset in PRESETS else None
    network: Any
    file = folder / "authors.pth"
    if preset == "vit":
        file = folder / "authors.npz"
        network = made("vit_base_patch16_224", num_classes=0)
        vit(network, file)
    elif preset == "swag":
        from torchvision.models import regnet_y_16gf

        network = regnet_y_16gf(num_classes=1000).eval()
        torch.save(network.state_dict(), file)
        network.fc = torch.nn.Identity()
    elif preset == "clip":
        import open_clip

        network = open_clip.create_model("ViT-B-32-quickgelu", force_quick_gelu=True).eval()
        sizes = {
            "input_resolution": torch.tensor(224),
            "context_length": torch.tensor(77),
            "vocab_size": torch.tensor(49408),
        }
        torch.save({**network.state_dict(), **sizes}, file)
    else:
        name, options, layout = layouts()[preset]
        network = made(name, **options)
        save(layout(network.state_dict()))(file)
    backbone = load(preset_text(f"{preset}@{file}"), runtime="torch", device="cpu")
    used = backbone.spec.preprocessing
    assert steps is None or used == steps, f"{preset}: {used}"
    images = np.random.default_rng(0).integers(0, 255, (2, used.side, used.side, 3), dtype=np.uint8)
    batch = torch.from_numpy(((images / 255.0 - used.mean) / used.std).astype(np.float32)).permute(0, 3, 1, 2)
    with torch.inference_mode():
        if preset == "clip":
            wanted = network.encode_image(batch)
        elif preset in ("resnet50", "swag", "vit", "dino", "dinov2"):
            wanted = network(batch)
        else:
            wanted = network.forward_head(network.forward_features(batch), pre_logits=True)
        wanted = torch.nn.functional.normalize(wanted).numpy()
    apart = float(np.abs(backbone.encode(images) - wanted).max())
    assert apart < 1e-5, f"{preset}: {apart}"
    return f"{preset}: {backbone.spec.dimension} numbers, at most {apart:.1e} from the network's own"


def main() -> None:
    for preset in sys.argv[1:] or [*PRESETS, "dinov2"]:
        with TemporaryDirectory() as place:
            print(check(preset, Path(place)), flush=True)


if __name__ == "__main__":
    main()
