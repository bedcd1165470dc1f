"""Tiny model repositories and files, made on the spot: seeded random weights, nothing is fetched."""

import base64
import io
import json
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models

from eds.backbones.families.transformers import quiet

SIDE = 32
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
VISION = {"image_size": SIDE, "patch_size": 8, **SMALL}
SQUARE = {"height": SIDE, "width": SIDE}
STEPS = "resize=squash&interpolation=bilinear&mean=0.5,0.4,0.3&std=0.2,0.25,0.3"  # what no file of a graph states


def _cropped() -> Any:
    return transformers.CLIPImageProcessorPil(size={"shortest_edge": SIDE + 5}, crop_size=SQUARE)


def _squashed() -> Any:
    return transformers.ViTImageProcessorPil(size=SQUARE)


def _resized_by_share() -> Any:
    return transformers.ConvNextImageProcessorPil(size={"shortest_edge": 2 * SIDE})


def _clip() -> Any:
    text = {"vocab_size": 300, **SMALL}
    return transformers.CLIPModel(transformers.CLIPConfig(vision_config=VISION, text_config=text, projection_dim=24))


ARCHITECTURES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "vit": (lambda: transformers.ViTModel(transformers.ViTConfig(**VISION)), _squashed),
    "dinov2": (lambda: transformers.Dinov2Model(transformers.Dinov2Config(**VISION)), _cropped),
    "dinov3": (lambda: transformers.DINOv3ViTModel(transformers.DINOv3ViTConfig(**VISION)), _squashed),
    "clip": (_clip, _cropped),
    "siglip": (
        lambda: transformers.SiglipModel(transformers.SiglipConfig(vision_config=VISION, text_config=SMALL)),
        lambda: transformers.SiglipImageProcessorPil(size=SQUARE),
    ),
    "convnext": (
        lambda: transformers.ConvNextModel(transformers.ConvNextConfig(hidden_sizes=[8, 16, 24, 32], depths=[1] * 4)),
        _resized_by_share,
    ),
}


def transformers_repository(folder: Path, name: str) -> Path:
    """A repository of transformers' layout, as a folder."""
    model, processor = ARCHITECTURES[name]
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model().eval().save_pretrained(folder / name)
        processor().save_pretrained(folder / name)
    return folder / name


def mteb_model(folder: Path, name: str) -> Path:
    """A model that MTEB knows by this name, loaded by MTEB's own wrapper of DINOv2 from a folder instead of the hub."""
    import mteb
    from mteb.models.model_implementations import MODEL_REGISTRY
    from mteb.models.model_implementations.dino_models import DINOModel

    repository = transformers_repository(folder, "dinov2")

    class Local(DINOModel):
        code = False

        def __init__(self, model_name: str, revision: str, device: str | None = None, **options: Any) -> None:
            self.model_name, self.device = model_name, device or "cpu"
            self.model = transformers.AutoModel.from_pretrained(repository, trust_remote_code=self.code)
            self.processor = transformers.AutoImageProcessor.from_pretrained(repository, backend="pil")

    known = mteb.get_model_meta("facebook/dinov2-small")
    changes = {"name": name, "loader": Local, "reference": None, "embed_dim": 32}
    MODEL_REGISTRY[name] = known.model_copy(update=changes)
    return repository


def sentence_transformers_repository(folder: Path) -> Path:
    """A CLIP model of sentence-transformers, as a folder."""
    from sentence_transformers import SentenceTransformer

    words = {"<|startoftext|>": 0, "<|endoftext|>": 1, "[UNK]": 2}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="[UNK]")),
        pad_token="<|endoftext|>",
        unk_token="[UNK]",
        model_max_length=77,
    )
    source = transformers_repository(folder, "clip")
    with quiet():
        transformers.CLIPProcessor(image_processor=_cropped(), tokenizer=tokenizer).save_pretrained(source)
        SentenceTransformer(str(source), device="cpu").save(str(folder / "st"))
    return folder / "st"


class Tiny(torch.nn.Module):
    """A small network of timm, seeded: its vector, or all its tokens."""

    def __init__(self, tokens: bool = False) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(6)
            self.model: Any = timm.create_model("test_vit", num_classes=0, img_size=64).eval()
        self.tokens = tokens

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.model.forward_features(batch) if self.tokens else self.model(batch)
        return output


def onnx_file(folder: Path, tokens: bool = False) -> Path:
    """The small network in ONNX's format."""
    path = folder / ("tokens.onnx" if tokens else "tiny.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        example = (torch.zeros(1, 3, 64, 64),)
        axes = {"pixels": {0: "n"}}
        torch.onnx.export(Tiny(tokens), example, str(path), input_names=["pixels"], dynamic_axes=axes, dynamo=False)
    return path


def torchscript_file(folder: Path) -> Path:
    """The small network in TorchScript's format."""
    path = folder / "tiny.ts"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(Tiny(), torch.zeros(1, 3, 64, 64)).save(str(path))  # type: ignore[no-untyped-call]
    return path


class Endpoint:
    """An endpoint of embeddings on this machine: the mean colours of each picture's quarters.

    `answers` are statuses to give before that, `requests` what it was sent.
    """

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.spoil: Callable[[dict[str, Any]], Any] = lambda answer: answer
        self.url = ""

    def reply(self, headers: dict[str, str], content: dict[str, Any]) -> tuple[int, Any]:
        """Status and JSON for a request."""
        self.requests.append((headers, content))
        if self.answers and (status := self.answers.pop(0)) != 200:
            return status, {"error": "busy"}
        pictures = [picture["image"] if isinstance(picture, dict) else picture for picture in content["input"]]
        data = [{"index": number, "embedding": quarters(_decoded(url)).tolist()} for number, url in enumerate(pictures)]
        return 200, self.spoil({"data": data[::-1], "model": content.get("model")})


def quarters(picture: Image.Image) -> Any:
    """The mean colours of the four quarters of a picture, from 0 to 1."""
    array = np.asarray(picture, dtype=np.float64) / 255
    half = len(array) // 2
    return array.reshape(2, half, 2, half, 3).mean(axis=(1, 3)).ravel()


def _decoded(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/png;base64,"), validate=True)))


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Run an endpoint on a free port."""
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, answer = state.reply({name.lower(): value for name, value in self.headers.items()}, content)
            body = json.dumps(answer).encode() if not isinstance(answer, bytes) else answer
            self.send_response(status)
            if status == 429:
                self.send_header("retry-after", "0")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
