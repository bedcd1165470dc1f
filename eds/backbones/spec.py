"""The specification of a backbone: a value with a text, a JSON form and a digest."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from eds.backbones.preprocessing import Preprocessing
from eds.choices import Similarity
from eds.tables import MODEL_NAME


@dataclass(frozen=True)
class BackboneSpec:
    """Everything that decides a model's vectors; two equal digests promise equal vectors (to 1e-5).

    `weights` is a tag of the hub or the name (not the folder) of a file; `weights_sha256` is the file's
    digest, so that moving a file changes nothing and another file of the same name has another digest. Without
    a file (random weights) it is the digest of the tensors. `options` are those of the user's text.
    """

    loader: str
    name: str
    weights: str
    weights_sha256: str
    key_map: tuple[tuple[str, str], ...]
    pooling: str
    dimension: int
    preprocessing: Preprocessing
    normalise: bool = True
    licence: str = "not stated"
    random_init: bool = False
    similarity: Similarity = "cosine"
    precision: str = "float32"
    runtime: str = "openvino"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The canonical text; `load` returns the same spec for it if it finds the same weights."""
        weights = f"@{self.weights}" if self.weights and self.weights != self.name else ""
        options = "&".join(f"{name}={value}" for name, value in self.options)
        return f"{self.loader}:{self.name}{weights}" + (f"?{options}" if options else "")

    @property
    def digest(self) -> str:
        """The sha256 of the whole spec, in hex."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def default_name(self) -> str:
        """A readable name for the model's folder and rows; other options give another name.

        >>> from eds.backbones.presets import IMAGENET
        >>> BackboneSpec("wheel", "efficientnet_lite0", "", "", (), "", 1280, IMAGENET).default_name
        'wheel-efficientnet_lite0'
        """
        stem = self.weights.rpartition("/")[2]
        parts = [self.loader, self.name, stem if stem != self.name else ""]
        parts += [name for name, value in self.options if name == "random_init" and value == "true"]
        name = re.sub(r"[^A-Za-z0-9._+-]+", "-", "-".join(part for part in parts if part)).strip("-")
        code = hashlib.sha256(self.text.encode()).hexdigest()[:8]
        plain = not [option for option, _ in self.options if option != "random_init"]
        name = name if plain and len(name) <= 100 else f"{name[:91]}-{code}"
        return name if MODEL_NAME.fullmatch(name) else f"model-{code}"

    def to_json(self) -> str:
        """The spec as canonical JSON."""
        values = {**asdict(self), "preprocessing": json.loads(self.preprocessing.to_json())}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "BackboneSpec":
        """Parse the output of `to_json`."""
        values: dict[str, Any] = json.loads(text)
        values["preprocessing"] = Preprocessing.from_dict(values["preprocessing"])
        for name in ("key_map", "options"):
            values[name] = tuple((old, new) for old, new in values[name])
        return cls(**values)
