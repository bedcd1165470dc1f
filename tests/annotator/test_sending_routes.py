"""The route that takes a catalogue from a lead's device: leads only, within limits, never beside its folder."""

import pytest

from annotator_ui.app_state import Site
from annotator_ui.http_limits import UPLOAD_BYTES
from eds.project import received_pictures
from tests.annotator.sites import client_for

PLACE = "/catalogue/upload"
OURS = {"X-EDS": "1"}


def _named(path: str) -> dict[str, str]:
    return {**OURS, "X-EDS-Path": path}


def test_only_leads_send(site: Site) -> None:
    assert client_for(site).post(PLACE, content=b"1", headers=_named("a.jpg")).status_code == 401
    assert client_for(site, "ann").post(PLACE, content=b"1", headers=_named("a.jpg")).status_code == 403
    assert client_for(site, "ann").get(PLACE).status_code == 403
    assert client_for(site, "lea").post(PLACE, content=b"1", headers={"X-EDS-Path": "a.jpg"}).status_code == 403
    assert not site.received.folder.exists()


def test_what_arrives_lies_in_the_folder_and_is_replaced(site: Site) -> None:
    lead = client_for(site, "lea")
    sent = {"bags/red%20one.jpg": b"1", "m%C3%A4ntel/b.PNG": b"22", "c.webp": b"333"}
    for path, data in sent.items():
        assert lead.post(PLACE, content=data, headers=_named(path)).status_code == 200
    assert lead.post(PLACE, content=b"4444", headers=_named("c.webp")).json() == {"count": 3}
    expected = {"bags/red one.jpg": 1, "m\u00e4ntel/b.PNG": 2, "c.webp": 4}
    assert lead.get(PLACE).json()["files"] == expected
    folder = site.received.folder
    there = {file.relative_to(folder).as_posix(): file.stat().st_size for file in folder.rglob("*") if file.is_file()}
    assert there == expected
    assert received_pictures.ReceivedPictures(site.owner).sizes == expected  # as a server that starts again sees it


@pytest.mark.parametrize(
    "path",
    [
        "../a.jpg", "a/../../b.jpg", "/etc/a.jpg", "a//b.jpg", "./a.jpg", "%2e%2e/a.jpg", "..%2fa.jpg", "a\\b.jpg",
        "C:/a.jpg", "a%00.jpg", "a%0a.jpg", ".hidden/a.jpg", "a.exe", "a.jpg/", "a", "", "%ff.jpg", "1/2/3/4/5/6/7.jpg",
        f"{'a' * 200}.jpg",
    ],
)  # fmt: skip
def test_a_path_that_could_lie_elsewhere_is_refused(site: Site, path: str) -> None:
    before = {file for file in site.owner.root.rglob("*") if file.suffix in (".jpg", ".exe")}
    assert client_for(site, "lea").post(PLACE, content=b"1", headers=_named(path)).status_code == 422
    assert {file for file in site.owner.root.rglob("*") if file.suffix in (".jpg", ".exe")} == before


def test_limits_hold(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = client_for(site, "lea")
    assert lead.post(PLACE, content=bytes(UPLOAD_BYTES + 1), headers=_named("a.jpg")).status_code == 413
    monkeypatch.setattr(received_pictures, "MOST_PICTURES", 2)
    answers = [lead.post(PLACE, content=b"1", headers=_named(f"{name}.jpg")).status_code for name in "abca"]
    assert answers == [200, 200, 422, 200]  # the first once more is no further picture
    monkeypatch.setattr(received_pictures, "MOST_BYTES", 3)
    assert lead.post(PLACE, content=b"333", headers=_named("a.jpg")).status_code == 422
    monkeypatch.setattr(received_pictures, "SPARE", 2**62)
    answer = lead.post(PLACE, content=b"2", headers=_named("b.jpg"))
    assert (answer.status_code, answer.json()["error"]) == (422, "the server's disk is full")
    assert lead.get(PLACE).json()["files"] == {"a.jpg": 1, "b.jpg": 1}
