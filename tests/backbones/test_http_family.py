"""An endpoint of embeddings: a real server on this machine, busy, wrong and down."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

from eds.backbones import load
from eds.backbones.families import http
from eds.errors import InputError
from tests.backbones.pictures import pictures
from tests.backbones.repositories import Endpoint, endpoint, quarters
from tests.reference import backbones as slow


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with endpoint() as state:
        yield state


@pytest.mark.parametrize("style", ["openai", "jina"])
def test_vectors_are_the_endpoints_in_the_order_of_the_images(server: Endpoint, style: str) -> None:
    backbone = load(f"{server.url}?model=tiny&size=64&style={style}")
    images = pictures(20)
    pixels = np.stack([backbone.spec.preprocessing.pixels(image) for image in images])
    expected = np.stack([quarters(Image.fromarray(picture)) for picture in pixels])
    assert slow.distance(backbone.encode(pixels), expected) <= 1e-12
    assert [len(content["input"]) for _, content in server.requests] == [1, 16, 4]
    assert all(content["model"] == "tiny" for _, content in server.requests)


def test_a_busy_endpoint_is_tried_again(server: Endpoint) -> None:
    server.answers = [200, 503, 429, 200]
    backbone = load(f"http:{server.url}?size=64")
    assert backbone.encode(np.zeros((1, 64, 64, 3), np.uint8) + 9).shape == (1, 12)
    server.answers = [500] * 5
    with pytest.raises(InputError, match="tried 5 times"):
        backbone.encode(np.zeros((1, 64, 64, 3), np.uint8) + 9)


def test_a_refusal_is_not_tried_again(server: Endpoint) -> None:
    server.answers = [401]
    with pytest.raises(InputError, match="status 401"):
        load(f"{server.url}?size=64")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda answer: {"data": answer["data"][1:]}, "0 vectors for 1"),
        (lambda answer: {"vectors": []}, "another shape"),
        (lambda answer: {"data": [{"embedding": ["a"]}]}, "other than numbers"),
        (lambda answer: {"data": [{"embedding": []}]}, "shape"),
        (lambda answer: b"<html>", "no JSON"),
    ],
)
def test_a_wrong_answer_is_one_line(server: Endpoint, spoil: object, message: str) -> None:
    server.spoil = spoil  # type: ignore[assignment]
    with pytest.raises(InputError, match=message):
        load(f"{server.url}?size=64")


def test_another_dimension_later_is_refused(server: Endpoint) -> None:
    backbone = load(f"{server.url}?size=64")
    server.spoil = lambda answer: {"data": [{"embedding": [1.0, 2.0]} for _ in answer["data"]]}
    with pytest.raises(InputError, match="not 12 numbers"):
        backbone.encode(np.zeros((2, 64, 64, 3), np.uint8))


def test_the_key_goes_out_only_where_nobody_listens(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http.KEY, "a-secret")
    backbone = load(f"{server.url}?size=64")
    assert server.requests[0][0]["authorization"] == "Bearer a-secret"
    assert "a-secret" not in backbone.spec.to_json()
    with pytest.raises(InputError, match="unencrypted") as caught:
        load("http://models.example/v1/embeddings")
    assert "a-secret" not in str(caught.value)
    with pytest.raises(InputError, match="holds a password"):
        load("https://me:a-secret@models.example/v1")


def test_an_endpoint_that_never_answers_is_given_up(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", 0.2)
    monkeypatch.setattr(http, "TRIES", 2)
    over = threading.Event()
    server.spoil = lambda answer: over.wait(60) and None
    try:
        with pytest.raises(InputError, match=r"cannot be reached \(timed out; tried 2 times\)"):
            load(f"{server.url}?size=64")
    finally:
        over.set()


def test_nothing_listens(server: Endpoint) -> None:
    with pytest.raises(InputError, match="cannot be reached"):
        load("http://127.0.0.1:9/v1/embeddings")
    with pytest.raises(InputError, match="invalid address"):
        load("http:ftp://host/x")
