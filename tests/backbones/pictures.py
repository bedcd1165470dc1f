"""Pictures and small weights files for the tests of backbones: seeded, nothing is fetched."""

from pathlib import Path

import numpy as np
import open_clip
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

TINY_CLIP = "eds-tiny-clip"
CLIP_CONFIG = (
    '{"embed_dim": 48, "vision_cfg": {"image_size": 64, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16},'
    ' "text_cfg": {"context_length": 16, "vocab_size": 64, "width": 32, "heads": 2, "layers": 1}}'
)


def pictures(count: int = 5) -> list[Image.Image]:
    """Smooth coloured noise of odd sizes, wide and tall, plus one of a single colour's gradient."""
    random = np.random.default_rng(11)
    made = []
    for number in range(count):
        width, height = (int(side) for side in random.integers(70, 190, 2))
        coarse = random.integers(0, 256, (9 + number, 7, 3), dtype=np.uint8)
        made.append(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    return made


def timm_file(folder: Path, name: str, classes: int | None = None) -> Path:
    """A random but seeded network of timm, classifier and statistics of batch norms included, as safetensors."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = timm.create_model(name, num_classes=1000 if classes is None else classes)
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                assert module.running_mean is not None
                assert module.running_var is not None
                torch.nn.init.normal_(module.running_mean, std=0.1)
                torch.nn.init.uniform_(module.running_var, 0.8, 1.2)
    path = folder / f"{name}.safetensors"
    save_file({key: tensor.contiguous() for key, tensor in model.state_dict().items()}, path)
    return path


def clip_file(folder: Path) -> Path:
    """A random but seeded small CLIP model; its configuration becomes known to open_clip as `TINY_CLIP`."""
    config = folder / f"{TINY_CLIP}.json"
    config.write_text(CLIP_CONFIG)
    open_clip.add_model_config(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        model = open_clip.create_model(TINY_CLIP)
    path = folder / "tiny_clip.safetensors"
    save_file({key: tensor.contiguous() for key, tensor in model.state_dict().items()}, path)
    return path
