"""The paper's fourteen models, each with the preprocessing of its official evaluator and notes on what is not stated.

The evaluator squashes every image to 224 x 224, bilinear, for all models but CLIP; that shapes the pool,
so it is part of the text, whatever the default of the library is.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from eds.backbones.modern_presets import MODERN
from eds.backbones.preprocessing import Preprocessing
from eds.errors import InputError

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
HALF = (0.5, 0.5, 0.5)
IMAGENET = Preprocessing("squash", 224, "bilinear", None, "RGB", MEAN, STD)
INCEPTION = Preprocessing("squash", 224, "bilinear", None, "RGB", HALF, HALF)
CLIP = Preprocessing("shortest", 224, "bicubic", None, "RGB", CLIP_MEAN, CLIP_STD)


@dataclass(frozen=True)
class Preset:
    """One model of the paper: its text without the preprocessing, and a note on what the paper does not state."""

    model: str
    preprocessing: Preprocessing
    dimension: int
    note: str = ""
    file: str = ""  # the weights file that the user supplies; empty if a hub has the weights
    arch: str = ""  # of that file

    @property
    def text(self) -> str:
        """The text for `eds.backbones.load`; a weights file is expected in the working folder."""
        return self.text_in(Path())

    def text_in(self, folder: Path) -> str:
        """The text with the weights file, if the model needs one, in `folder`."""
        return self._add_options(f"checkpoint:{folder / self.file}?arch={self.arch}" if self.file else self.model)

    def text_with(self, file: str) -> str:
        """The text with the user's weights file; preprocessing and output stay those of the paper."""
        if self.file:
            return self._add_options(f"checkpoint:{file}?arch={self.arch}")
        model, mark, options = self.model.partition("?")
        weights = f"={file}" if "@" in model else f"@{file}"  # a tag stays: it says how images are prepared
        return self._add_options(f"{model}{weights}{mark}{options}")

    def _add_options(self, model: str) -> str:
        steps = self.preprocessing
        options = (
            f"resize={steps.resize}&size={steps.size}&interpolation={steps.interpolation}&channels={steps.channels}"
        )
        options += f"&mean={','.join(map(str, steps.mean))}&std={','.join(map(str, steps.std))}"
        options += f"&crop={steps.crop}" if steps.crop else ""
        return f"{model}{'&' if '?' in model else '?'}{options}"


def _file(file: str, arch: str, dimension: int, note: str) -> Preset:
    return Preset("", IMAGENET, dimension, note, file, arch)


DENSENET = "timm:densenet161"
OWN = "not released: fine-tuned by its authors (50 epochs, Adam, batch 64; learning rate not stated)"

PRESETS: dict[str, Preset] = {
    "argus": _file(
        "argus_densenet.pth",
        DENSENET,
        2208,
        "weights not public; the code has this DenseNet-161, the text a ResNeXt101-32x8d behind a login: "
        "checkpoint:FILE?arch=timm:resnext101_32x8d&channels=BGR&resize=squash&size=256&crop=224",
    ),
    "dino": Preset("timm:vit_small_patch8_224.dino", IMAGENET, 384),
    "beit": Preset(
        "timm:beit_base_patch16_224.in22k_ft_in22k", INCEPTION, 768, "agrees with the official pooler_output to 4e-4"
    ),
    "clip": Preset(
        "open_clip:ViT-B-32-quickgelu@openai", CLIP, 512, "the plain ViT-B-32 has another activation: refused"
    ),
    "argus_id": _file("argus_id.safetensors", DENSENET, 2208, OWN),
    "argus_id_c": _file("argus_id_c.safetensors", DENSENET, 2208, OWN),
    "resnet50": Preset(
        "timm:resnet50.tv2_in1k?output=logits",
        IMAGENET,
        1000,
        "the official code uses the 1000 logits, not the 2048 features; leave output=logits out for those",
    ),
    "convnext": Preset("timm:convnext_base.fb_in1k", IMAGENET, 1024, "size not stated: base taken, of tiny to large"),
    "vit": Preset("timm:vit_base_patch16_224.augreg_in21k", INCEPTION, 768, "which of augreg or orig is not stated"),
    "swag": Preset(
        "timm:regnety_160.swag_lc_in1k", IMAGENET, 3024, "architecture not stated: RegNetY-16GF, frozen trunk"
    ),
    "moco": _file(
        "moco_v2_800ep_pretrain.pth.tar",
        "timm:resnet50&prefix=module.encoder_q.",
        2048,
        "version and epochs not stated; the authors' file, query encoder, projection dropped",
    ),
    "swav": _file(
        "swav_800ep_pretrain.pth.tar",
        "timm:resnet50&prefix=module.&drop=projection_head&drop=prototypes",
        2048,
        "epochs not stated; the authors' file, projection and prototypes dropped",
    ),
    "mae": Preset("timm:vit_base_patch16_224.mae", IMAGENET, 768, "size not stated: base taken"),
    "noisy_student": Preset(
        "timm:tf_efficientnet_b7.ns_jft_in1k",
        IMAGENET,
        2560,
        "size not stated: b7 taken; the network was made for 600 pixels",
    ),
}


def name_and_spec(text: str) -> tuple[str, str]:
    """Split [NAME=]SPEC into the name, which may be empty, and the spec.

    >>> name_and_spec("ours=moco@a=b"), name_and_spec("moco@a=b")
    (('ours', 'moco@a=b'), ('', 'moco@a=b'))
    """
    head, equals, rest = text.partition("=")
    return (head, rest) if equals and not {":", "@"} & set(head) else ("", text)


def preset_text(text: str) -> str:
    """The text of `PRESET`, or of `PRESET@FILE` with the user's weights file.

    A text that names a loader stays as it is. A preset without weights on a hub is refused unless its file is in the
    working folder.
    """
    name, at, file = text.partition("@")
    if ":" in name:
        return text
    if name not in PRESETS and name not in MODERN:
        near = get_close_matches(name, [*PRESETS, *MODERN], n=1)
        named = f"Did you mean {near[0]}? Names" if near else "Names"
        raise InputError(
            f"{text!r} is not a model",
            hint=f"{named} are listed by eds embeddings list --presets; any other is written loader:name, for example"
            " timm:resnet50 or descriptor:hsv.",
        )
    if at and not file:
        raise InputError("no weights file after @", where=text, hint=f"Write {name}@/path/FILE.")
    if name in MODERN:
        return _modern(name, file)
    preset = PRESETS[name]
    if preset.file and not file and not Path(preset.file).is_file():
        raise InputError(
            f"its weights are on no hub ({preset.note.partition(';')[0]}), and {preset.file} is not in this folder",
            where=name,
            hint=f"Supply the file and name it: -m {name}@/path/{preset.file}.",
        )
    return preset.text_with(file) if file else preset.text


def _modern(name: str, file: str) -> str:
    """The text of a model of today; with the user's file where it has one, as `timm:NAME@FILE`."""
    model = MODERN[name]
    if model.file:
        if not file and not Path(model.file).is_file():
            what = f"its weights are on no hub ({model.note}), and {model.file} is not in this folder"
            raise InputError(what, where=name, hint=f"Supply the file and name it: -m {name}@/path/{model.file}.")
        return model.text.replace(model.file, file) if file else model.text
    if not file:
        return model.text
    spec, mark, options = model.text.partition("?")
    if "hf-hub:" in spec or spec.startswith("transformers:"):
        loader = spec.partition(":")[0]
        what = "this model is a repository, not one file"
        raise InputError(what, where=name, hint=f"Name its folder: -m {name}={loader}:local-dir:/path/folder.")
    return f"{spec}{'=' if '@' in spec else '@'}{file}{mark}{options}"
