"""The routes of Look around: for leads only; an upload is limited, decoded apart, and seen by its viewer alone."""

import io

import numpy as np
from PIL import Image

from annotator_ui.app_state import Site
from annotator_ui.http_limits import UPLOAD_BYTES
from tests.annotator.sites import client_for

OURS = {"X-EDS": "1"}


def _png(width: int, height: int) -> bytes:
    memory = io.BytesIO()
    values = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    Image.fromarray(values).save(memory, "PNG")
    return memory.getvalue()


def test_only_leads_upload(site: Site) -> None:
    data = _png(8, 8)
    assert client_for(site).post("/looking/upload", content=data, headers=OURS).status_code == 401
    assert client_for(site, "ann").post("/looking/upload", content=data, headers=OURS).status_code == 403
    assert client_for(site, "lea").post("/looking/upload", content=data).status_code == 403  # a foreign form's
    assert client_for(site, "ann").get("/looking/points?model=hsv").status_code == 403
    assert "uploads" not in vars(site)  # nothing was kept


def test_a_map_that_is_none_is_refused(site: Site) -> None:
    lead = client_for(site, "lea")
    for query in ("clusters=²", "clusters=-1", "clusters=9999", "method=x", "colour=x"):
        assert lead.get(f"/looking/points?model=hsv&{query}").status_code == 404
    assert lead.get("/looking/points?model=../../x").status_code == 422


def test_a_picture_keeps_every_pixel_and_is_its_viewers_alone(site: Site) -> None:
    data = _png(40, 30)
    lead = client_for(site, "lea")
    token = lead.post("/looking/upload", content=data, headers=OURS).json()["token"]
    with Image.open(io.BytesIO(lead.get(f"/looking/upload/{token}").content)) as got:
        assert np.array_equal(np.asarray(got), np.asarray(Image.open(io.BytesIO(data))))
    assert client_for(site, "ada").get(f"/looking/upload/{token}").status_code == 404
    assert client_for(site, "ann").get(f"/looking/upload/{token}").status_code == 403


def test_what_is_too_large_or_no_picture_is_refused(site: Site) -> None:
    lead = client_for(site, "lea")
    assert lead.post("/looking/upload", content=bytes(UPLOAD_BYTES + 1), headers=OURS).status_code == 413
    assert lead.post("/looking/points", content=bytes(300_000), headers=OURS).status_code == 413  # no other path
    for data in (b"", b"\xff\xd8 no picture", _png(8, 8)[:60], _bomb()):
        answer = lead.post("/looking/upload", content=data, headers=OURS)
        assert (answer.status_code, answer.json()) == (422, {"reason": "unreadable"})


def _bomb() -> bytes:
    """A small file of 144 million pixels."""
    memory = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(memory, "PNG")
    return memory.getvalue()
