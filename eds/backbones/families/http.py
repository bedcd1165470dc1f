"""An endpoint that returns embeddings, OpenAI's manner: `http:URL?model=NAME`, or the URL itself.

Each image is sent as a PNG in a data URL, as the square that the preprocessing makes of it. The key comes from the
variable EDS_EMBEDDINGS_KEY, and is sent over https or to this machine only. `style=jina` wraps each image as
{"image": ...}. What the endpoint computes cannot be checked: the vectors are those of today.
"""

import base64
import io
import ipaddress
import os
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import numpy.typing as npt
from PIL import Image

from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.vectors import check_batch, finish
from eds.errors import InputError

EXTRA = "http"

KEY = "EDS_EMBEDDINGS_KEY"
STYLES = ("openai", "jina")
BATCH = 16  # images per request
TRIES = 5
PATIENCE = 60.0  # seconds to wait for a response
LONGEST_WAIT = 30.0  # seconds between two tries
BUSY = (408, 425, 429, 500, 502, 503, 504)
WHITE = Preprocessing("longest", 512, "bicubic", None, "RGB", (1, 1, 1), (1, 1, 1))  # padded with white


class EndpointBackbone:
    """A model behind an address."""

    def __init__(self, request: Request) -> None:
        self._url, self._request = _address(request), request
        self._model, self._style = request.option("model"), request.option("style", "openai", STYLES)
        self._client = httpx.Client(timeout=PATIENCE, headers=_headers(self._url, request), follow_redirects=False)
        steps = request.preprocessing(WHITE)
        self.spec: BackboneSpec = request.spec(steps, pooling="endpoint", runtime="http")
        probe = np.full((1, steps.side, steps.side, 3), 127, dtype=np.uint8)
        dimension = self._vectors(probe).shape[1]
        self.spec = request.spec(steps, pooling="endpoint", runtime="http", dimension=dimension)

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """uint8 (n, side, side, 3) to float32 (n, dimension)."""
        check_batch(batch, self.spec.preprocessing.side)
        parts = [self._vectors(batch[start : start + BATCH]) for start in range(0, len(batch), BATCH)]
        return finish(np.concatenate(parts), self.spec) if parts else np.empty((0, self.spec.dimension), np.float32)

    def _vectors(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        pictures = [_data_url(pixels, self.spec.preprocessing.channels) for pixels in batch]
        content: dict[str, Any] = {"input": [{"image": url} for url in pictures] if self._style == "jina" else pictures}
        if self._model:
            content["model"] = self._model
        rows = _rows(self._post(content), self._request)
        if len(rows) != len(batch):
            raise self._wrong(f"{len(rows)} vectors for {len(batch)} images")
        try:
            vectors = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong("vectors of several lengths, or of other than numbers") from None
        expected = self.spec.dimension or vectors.shape[-1]
        if vectors.ndim != 2 or vectors.shape[1] != expected or not expected:
            raise self._wrong(f"vectors of shape {vectors.shape[1:]}, not {expected} numbers")
        return vectors

    def _post(self, content: dict[str, Any]) -> Any:
        """The endpoint's answer. Busy and broken connections are tried again, and nothing else is."""
        for trial in range(1, TRIES + 1):
            wait = min(2.0 ** (trial - 1), LONGEST_WAIT)
            try:
                answer = self._client.post(self._url, json=content)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            else:
                if answer.status_code == httpx.codes.OK:
                    return _json(answer, self._request)
                reason = f"status {answer.status_code}: {answer.text.strip()[:200]}"
                if answer.status_code not in BUSY:
                    raise self._failed(reason)
                wait = min(_retry_after(answer) or wait, LONGEST_WAIT)
            if trial < TRIES:
                time.sleep(wait)
        raise self._failed(f"{reason}; tried {TRIES} times")

    def _failed(self, reason: str) -> InputError:
        hint = f"Check the address, the model's name (?model=) and the key (variable {KEY}). Vectors so far are kept."
        return InputError(f"the endpoint refused or cannot be reached ({reason})", where=self._url, hint=hint)

    def _wrong(self, what: str) -> InputError:
        return InputError(f"the endpoint returned {what}", where=self._url, hint="Is it a model of images?")


def load(request: Request) -> EndpointBackbone:
    """Connect to an endpoint; one image is sent to learn the dimension."""
    request.allow_only("model", "style")
    if request.random_init or request.precision != "float32":
        raise InputError("an endpoint chooses its own weights and precision", where=request.text)
    return EndpointBackbone(request)


def _address(request: Request) -> str:
    url = request.name if "://" in request.name else f"http:{request.name}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            "invalid address", where=request.text, hint="Write http:https://HOST/v1/embeddings?model=NAME."
        )
    if parts.username or parts.password:
        hint = f"Take the key out of the address and set the variable {KEY}: texts of models are stored."
        raise InputError("the address holds a password", where=parts.hostname, hint=hint)
    return url


def _headers(url: str, request: Request) -> dict[str, str]:
    key = os.environ.get(KEY)
    if not key:
        return {}
    parts = urlsplit(url)
    if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
        raise InputError("the key would travel unencrypted", where=request.text, hint=f"Use https, or unset {KEY}.")
    return {"Authorization": f"Bearer {key}"}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _data_url(pixels: npt.NDArray[np.uint8], channels: str) -> str:
    file = io.BytesIO()
    array = pixels if channels == "RGB" else pixels[..., ::-1]
    Image.fromarray(np.ascontiguousarray(array)).save(file, "png", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _json(answer: httpx.Response, request: Request) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise InputError("the endpoint returned no JSON", where=request.text, hint="Check the address.") from None


def _rows(answer: Any, request: Request) -> list[Any]:
    """The vectors of an answer {"data": [{"index": 0, "embedding": [...]}, ...]}, in the order of the images."""
    try:
        data = answer["data"]
        order = sorted(range(len(data)), key=lambda number: int(data[number].get("index", number)))
        return [data[number]["embedding"] for number in order]
    except (KeyError, TypeError, AttributeError, ValueError):
        hint = 'It needs {"data": [{"embedding": [...]}, ...]}, as OpenAI\'s has. Check the address.'
        raise InputError("the endpoint returned another shape", where=request.text, hint=hint) from None


def _retry_after(answer: httpx.Response) -> float:
    value = answer.headers.get("retry-after", "")
    return float(value) if value.isdecimal() else 0.0
