"""The export route gives what the store holds, to leads only."""

import io
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator_ui import exporting
from annotator_ui.app_state import Site
from annotator_ui.auth.middleware import Gate
from eds.labels.frames import labels_frame
from eds.labels.transfer import export_votes
from tests.annotator.judged import NAME
from tests.annotator.sites import store_of


def test_the_export_route_gives_what_the_store_holds_to_leads_only(judged: Site, tmp_path: Path) -> None:
    for kind in ("csv", "jsonl", "parquet", "crowdkit"):
        answer = client(judged, "lea").get(f"/export/{kind}", params={"campaign": NAME})
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-disposition"].startswith("attachment")
        file = tmp_path / f"votes.{kind}"
        export_votes(store_of(judged.owner), file, kind, only=NAME)
        if kind == "parquet":
            assert pq.read_table(io.BytesIO(answer.content)).equals(pq.read_table(file))
        else:
            assert answer.content == file.read_bytes()
    everything = client(judged, "ada").get("/export/csv")
    assert len(pd.read_csv(io.BytesIO(everything.content))) == len(labels_frame(store_of(judged.owner)))
    assert client(judged, "ann").get("/export/csv").status_code == 403
    assert client(judged, None).get("/export/csv").status_code == 401
    assert client(judged, "lea").get("/export/xml").status_code == 404
    assert client(judged, "lea").get("/export/csv", params={"campaign": "none"}).status_code == 422
    assert client(judged, "lea").post("/export/csv", headers={"X-EDS": "1"}).status_code == 405


def client(site: Site, who: str | None) -> TestClient:
    """A browser that talks to the export route behind the gate."""
    app = Starlette(routes=exporting.routes(site.base), middleware=[Middleware(Gate, site=site)])
    found = TestClient(app, base_url="http://localhost", follow_redirects=False)
    if who is not None:
        found.cookies.set("eds_session", site.owner.experts.sign_in_vouched(who, by="test"), domain="localhost.local")
    return found
