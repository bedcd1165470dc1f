"""Text sides of models of images and texts against the libraries' own calls; a model without one is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer

from eds.backbones import load
from eds.backbones.families.transformers import quiet
from eds.backbones.text import load_text
from eds.errors import InputError
from tests.backbones.repositories import sentence_transformers_repository
from tests.reference import backbones as slow

TEXTS = ["red", "red dress"]


def test_texts_are_encoded_as_the_libraries_do(tmp_path: Path) -> None:
    folder = sentence_transformers_repository(tmp_path)
    encoder = load_text(f"transformers:local-dir:{tmp_path / 'clip'}")
    with quiet():
        model = transformers.AutoModel.from_pretrained(tmp_path / "clip").eval()
        tokens = transformers.AutoTokenizer.from_pretrained(tmp_path / "clip")(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        wanted = model.get_text_features(**tokens).pooler_output.numpy()
    assert slow.distance(encoder.encode_text(TEXTS), wanted) <= 1e-5
    assert encoder.weights_sha256 == load(f"transformers:local-dir:{tmp_path / 'clip'}").spec.weights_sha256

    with quiet():
        own = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    found = load_text(f"st:local-dir:{folder}")
    assert slow.distance(found.encode_text(TEXTS), np.asarray(own)) <= 1e-5
    assert found.weights_sha256 == load(f"st:local-dir:{folder}").spec.weights_sha256


@pytest.mark.parametrize("text", ["descriptor:hsv", "timm:test_vit"])
def test_a_model_of_images_alone_names_the_remedy(text: str) -> None:
    with pytest.raises(InputError, match="takes no text") as caught:
        load_text(text)
    assert "open_clip" in caught.value.hint
