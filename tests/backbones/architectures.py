"""Which architectures of today load by their names, with random weights, and encode a picture.

python -m tests.backbones.architectures        a line for each; ends with 1 if one does not
"""

import sys
import time

import numpy as np

from eds.backbones import load

NAMES = (
    "timm:vit_small_patch14_dinov2",
    "timm:vit_base_patch16_dinov3?pooling=token",
    "timm:convnext_tiny",
    "timm:convnextv2_tiny",
    "timm:vit_base_patch16_siglip_224",
    "timm:aimv2_large_patch14_224",
    "timm:eva02_tiny_patch14_224",
    "timm:vit_pe_core_tiny_patch16_384",
    "timm:fastvit_mci2",
    "timm:hiera_tiny_224",
    "timm:swinv2_tiny_window8_256",
    "timm:maxvit_tiny_tf_224",
    "timm:mobilenetv4_conv_medium",
    "timm:tiny_vit_21m_224",
    "timm:caformer_s18",
    "timm:beitv2_base_patch16_224",
    "timm:deit3_small_patch16_224",
    "timm:repvit_m1",
    "timm:mambaout_tiny",
    "timm:efficientvit_b1",
    "open_clip:ViT-B-16-SigLIP2",
    "open_clip:MobileCLIP2-S2",
    "open_clip:PE-Core-B-16",
)


def main() -> None:
    """Try each."""
    good = 0
    for name in NAMES:
        begun = time.monotonic()
        try:
            model = load(name, random_init=True)
            side = model.spec.preprocessing.side
            found = model.encode(np.zeros((1, side, side, 3), np.uint8))
            fine = found.shape == (1, model.spec.dimension) and bool(np.isfinite(found).all())
            words = f"{model.spec.dimension} numbers" if fine else "its vectors are wrong"
        except Exception as error:  # noqa: BLE001 - whatever a library raises is what is looked for
            fine, words = False, f"{type(error).__name__}: {error}"
        good += fine
        sys.stdout.write(f"{'loads' if fine else 'FAILS':6} {name:45} {time.monotonic() - begun:5.1f} s  {words}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{good} of {len(NAMES)} load\n")
    sys.exit(good < len(NAMES))


if __name__ == "__main__":
    main()
