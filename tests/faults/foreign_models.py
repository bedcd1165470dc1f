"""Models for the mutations: weights, graphs, and what services at an address answer."""

import json
import threading
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from eds.backbones import load
from eds.backbones.state_file import read_arrays
from eds.backbones.weights import read as read_weights
from eds.errors import EdsError
from eds.project import Project
from eds.project.assistant_endpoint import Endpoint, UnreadableError
from tests.faults.mutations import Importer

GRAY = np.full((1, 64, 64, 3), 127, np.uint8)
VECTOR = {"data": [{"index": 0, "embedding": [0.5, 1, 2]}]}
STEPS = "resize=squash&interpolation=bilinear&mean=0.5,0.5,0.5&std=0.2,0.2,0.2&size=64"


def _state() -> dict[str, torch.Tensor]:
    return {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.zeros(2), "n": torch.tensor(3)}


def _torch(*, zipped: bool) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        torch.save(_state(), folder / "w.pth", _use_new_zipfile_serialization=zipped)
        return folder / "w.pth"

    return write


def _safetensors(folder: Path) -> Path:
    from safetensors.torch import save_file

    save_file(_state(), folder / "w.safetensors")
    return folder / "w.safetensors"


def _torchscript(folder: Path) -> Path:
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 8), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    torch.jit.trace(network, torch.zeros(1, 3, 64, 64)).save(str(folder / "net.ts"))  # type: ignore[no-untyped-call]
    return folder / "net.ts"


def _onnx(folder: Path) -> Path:
    """The smallest network: the mean of each colour, written by the bytes of ONNX's format itself."""
    import onnx
    from onnx import TensorProto, helper

    pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 64, 64])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["n", 3])
    nodes = [
        helper.make_node("GlobalAveragePool", ["pixels"], ["means"]),
        helper.make_node("Flatten", ["means"], ["vectors"]),
    ]
    graph = helper.make_graph(nodes, "net", [pixels], [vectors])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "net.onnx")
    return folder / "net.onnx"


def _encoded(loader: str) -> Callable[[Path], Any]:
    return lambda path: load(f"{loader}:{path}?{STEPS}", runtime="auto").encode(GRAY)


def _bad_state(state: Any) -> str:
    return "" if all(isinstance(name, str) for name in state) else "tensors without names"


def _bad_vectors(vectors: Any) -> str:
    return "" if vectors.shape[0] == 1 and np.isfinite(vectors).all() else f"vectors of {vectors.shape}"


class _Answers(BaseHTTPRequestHandler):
    """Answers every request with the same bytes."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet
    body = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Stay quiet."""


@cache
def _service() -> str:
    """Where the answers come from: one server for the whole process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def _answer(content: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "answer.json").write_text(json.dumps(content))
        return folder / "answer.json"

    return write


@cache
def _endpoint() -> Any:
    _Answers.body = json.dumps(VECTOR).encode()
    return load(f"http:{_service()}/v1?size=64")


def _embedded(path: Path) -> Any:
    backbone = _endpoint()
    _Answers.body = path.read_bytes()
    return backbone.encode(GRAY)


def _chat(folder: Path) -> Path:
    """An answer beside a project whose assistant it comes from."""
    root = folder / "shop"
    Project.create(
        root, {"assistant.url": _service(), "assistant.model": "seer", "assistant.send_pictures": True}
    ).image_root.mkdir()
    Image.new("RGB", (8, 8)).save(root / "images" / "a.png")
    return _answer({"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "similar"}}]})(
        folder
    )


@cache
def _assistant(root: Path) -> Endpoint:
    return Endpoint(Project.open(root))


def _asked(path: Path) -> Any:
    _Answers.body = path.read_bytes()
    image = {"path": "a.png", **dict.fromkeys(("box_left", "box_top", "box_right", "box_bottom"))}
    try:
        return _assistant(path.parent / "shop").judge(image, image)
    except UnreadableError as error:  # counted by who asks; with too many, asking ends
        raise EdsError("unreadable") from error


MODELS: dict[str, Importer] = {
    "model checkpoint, zip": Importer(_torch(zipped=True), read_weights, _bad_state),
    "model checkpoint, pickles": Importer(_torch(zipped=False), read_weights, _bad_state),
    "model checkpoint, without torch": Importer(_torch(zipped=True), read_arrays, _bad_state),
    "model checkpoint, pickles without torch": Importer(_torch(zipped=False), read_arrays, _bad_state),
    "model checkpoint, safetensors": Importer(_safetensors, read_weights, _bad_state),
    "model checkpoint, torchscript": Importer(_torchscript, read_weights, _bad_state),
    "model torchscript": Importer(_torchscript, _encoded("torchscript"), _bad_vectors),
    "model onnx": Importer(_onnx, _encoded("onnx"), _bad_vectors),
    "model http": Importer(_answer(VECTOR), _embedded, _bad_vectors),
    "assistant answer": Importer(_chat, _asked, lambda said: "" if said in (0, 1, None) else f"{said!r}"),
}
