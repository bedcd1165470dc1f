"""Second judges by the verbs: files, the relevance model, a model behind a real server on this machine."""

import base64
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image

from eds.cli.assistant import assistant as group
from eds.errors import ConfigError, EdsError, InputError, ProjectError
from eds.project import Project
from tests.metrics.projects import MAKERS, project_in

PAIR = ["query_id", "candidate_id"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path / "p", seed=2)


def file_of(project: Project, name: str = "answers.csv", **changed: Any) -> Path:
    """Answers as the labels have them, some of them wrong."""
    truth = project.read("truth")
    flipped = np.arange(len(truth)) % 8 == 0
    rows = truth[PAIR].assign(value=np.where(flipped, 1 - truth["value"], truth["value"])).assign(**changed)
    rows.to_csv(project.root / name, index=False)
    return project.root / name


def test_a_file_of_answers_is_stored_apart_compared_and_used(project: Project) -> None:
    before = project.read("truth")
    stored = project.assistants.import_answers("helper", file_of(project), blind=True)
    assert (stored.pairs, stored.new) == (len(before), len(before))
    assert project.read("truth").equals(before)
    assert not project.path("labels").exists()  # no vote, no expert
    assert project.assistants.list().table["name"].tolist() == ["helper"]
    table = project.assistants.agreement("helper").table
    whole = table[table["slice"] == "all"].iloc[0]
    said = pd.read_csv(project.root / "answers.csv")["value"]
    assert whole["agreement"] == pytest.approx((said == before["value"]).mean())
    assert whole["overrating"] == pytest.approx(said.mean() - before["value"].mean())
    assert set(table["slice"]) >= {"all", "origin"}
    rates = project.assistants.estimate("helper", k=3).table
    assert rates["quantity"].tolist() == ["p", "p_k", *["P@3"] * len(MAKERS)]
    pool = project.read("suspects").query("origin == 'pool'")[PAIR].merge(before, on=PAIR)
    assert rates.loc[rates["quantity"] == "p_k", "plain"].iloc[0] == pytest.approx(pool["value"].mean())
    project.assistants.remove("helper")
    with pytest.raises(ProjectError, match="no assistant helper"):
        project.assistants.estimate("helper")


def test_with_half_the_pool_judged_a_good_judge_is_worth_labels_and_a_bad_one_is_of_no_use(project: Project) -> None:
    from eds.tables import Provenance

    truth = project.read("truth")
    right = truth[PAIR].assign(value=truth["value"].astype(float))
    pool = project.read("suspects").query("origin == 'pool'").sort_values("position").head(45)[PAIR]
    project.write(truth.merge(pool, on=PAIR)[truth.columns], "truth", Provenance("truth.decide"))
    right.to_csv(project.root / "right.csv", index=False)
    right.assign(value=1).to_csv(project.root / "yes.csv", index=False)
    project.assistants.import_answers("right", project.root / "right.csv", blind=True)
    project.assistants.import_answers("yes", project.root / "yes.csv", blind=True)
    rows = project.assistants.estimate("right").table.to_dict(orient="records")
    good = next(row for row in rows if row["quantity"] == "p_k")
    assert good["worth"] > 1.2
    assert good["hours"] > 0
    useless = project.assistants.estimate("yes").table.query("quantity != 'p'")
    assert (useless["worth"] == 1).all()
    assert useless["note"].str.contains("no use here").all()
    assert (useless["rate"].dropna() == useless["plain"].dropna()).all()


def test_answers_that_may_come_from_the_labels_correct_nothing(project: Project) -> None:
    """A judge that was fitted on labels looks better than it is, and nothing in its answers shows it."""
    from eds.tables import Provenance

    truth = project.read("truth")
    stored = project.assistants.import_answers("fitted", file_of(project))
    assert stored.labels_before == len(truth)
    found = project.assistants.estimate("fitted")
    assert "--blind" in found.note
    assert set(found.table["note"]) == {"not used"}
    assert (found.table["rate"].dropna() == found.table["plain"].dropna()).all()
    assert "--blind" in project.assistants.agreement("fitted").note
    project.write(truth.head(0), "truth", Provenance("truth.decide"))
    project.assistants.import_answers("first", project.root / "answers.csv")
    project.write(truth, "truth", Provenance("truth.decide"))
    assert not project.assistants.estimate("first").note, "its answers came before the labels"


def test_the_relevance_model_may_be_the_judge_and_its_own_models_are_flagged(project: Project) -> None:
    stored = project.assistants.learn()
    suspects = project.read("suspects")[PAIR].drop_duplicates()
    assert (stored.kind, stored.pairs) == ("relevance model", len(suspects))
    assert project.assistants.agreement("relevance").table["kappa"].iloc[0] > 0.2


def test_a_model_of_the_judge_s_own_family_is_not_corrected(project: Project) -> None:
    project.rename_model("m0", "clip-base")
    project.assistants.import_answers("vlm", file_of(project), family="CLIP", blind=True)
    rows = {row["model"]: row for row in project.assistants.estimate("vlm", k=3).table.to_dict(orient="records")}
    assert "of the assistant's family (clip)" in rows["clip-base"]["note"]
    assert rows["clip-base"]["rate"] == rows["clip-base"]["plain"]
    assert "family" not in rows["m1"]["note"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda rows: rows.drop(columns="value"), "value is missing"),
        (lambda rows: rows.assign(value=7), "not from 0 to 1"),
        (lambda rows: rows.assign(value="maybe"), "not from 0 to 1"),
        (lambda rows: pd.concat([rows, rows.assign(value=1 - rows["value"])]), "two answers that differ"),
        (lambda rows: rows.assign(query_id="nobody"), "the catalogue lacks"),
        (lambda rows: rows.head(0), "no answer"),
    ],
)
def test_answers_that_contradict_or_make_no_sense_are_refused_whole(
    project: Project, change: Callable[[pd.DataFrame], pd.DataFrame], fault: str
) -> None:
    rows = change(pd.read_csv(file_of(project)))
    rows.to_csv(project.root / "bad.csv", index=False)
    with pytest.raises(InputError) as told:
        project.assistants.import_answers("bad", project.root / "bad.csv")
    assert fault in str(told.value) + " ".join(told.value.faults)
    assert project.assistants.list().table.empty


class Server(ThreadingHTTPServer):
    """Chat completions that say similar where the two pictures have nearly the same grey."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[dict[str, Any]] = []
        self.status: list[int] = []
        self.say: Callable[[int, str], Any] = lambda number, word: word

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/chat/completions"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.calls.append(content)
        status = self.server.status.pop(0) if self.server.status else 200
        pictures = [part["image_url"]["url"] for part in content["messages"][0]["content"] if "image_url" in part]
        greys = [
            float(np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))).mean())
            for url in pictures
        ]
        word = "Similar." if abs(greys[0] - greys[1]) < 40 else "different"
        said = self.server.say(len(self.server.calls), word)
        body = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.delenv("EDS_ASSISTANT_KEY", raising=False)
    running = Server()
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def asking(project: Project, server: Server, **settings: Any) -> Project:
    """The project with pictures and the server in its eds.toml."""
    folder = project.root / "images"
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(project.read("images")["path"]):
        Image.new("RGB", (20, 20), (4 * number,) * 3).save(folder / name, "png")
    values = {"url": server.url, "model": "seer", "send_pictures": True, "max_calls": 1000, **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    path = project.root / "eds.toml"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition("[assistant]")
    tail = rest[rest.index("\n[") :] if "\n[" in rest else ""
    path.write_text("\n".join([head + "[assistant]", *lines]) + "\n" + tail, encoding="utf-8")
    return Project.open(project.root)


def test_a_model_at_an_address_is_asked_once_for_each_pair_and_goes_on(project: Project, server: Server) -> None:
    asked = asking(project, server, price=0.01)
    first = asked.assistants.ask("seer", limit=30, origins=["pool"])
    assert (first.pairs, first.new) == (30, 30)
    assert first.cost == pytest.approx(0.3)
    second = asked.assistants.ask("seer", origins=["pool"])
    pool = asked.read("suspects").query("origin == 'pool'")[PAIR].drop_duplicates()
    assert second.pairs == len(pool) == len(server.calls)
    assert asked.assistants.ask("seer", origins=["pool"]).new == 0
    assert all(call["model"] == "seer" for call in server.calls)
    place = {name: number for number, name in enumerate(asked.read("images")["image_id"])}
    answers = asked.assistants._answers("seer")
    expected = [abs(place[q] - place[c]) * 4 < 40 for q, c in answers[PAIR].itertuples(index=False)]
    assert np.mean((answers["value"] == 1).to_numpy() == expected) > 0.95  # JPEG moves a grey a little
    assert asked.assistants.estimate("seer").table["quantity"].tolist()[:2] == ["p", "p_k"]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"send_pictures": False}, "has not allowed pictures"),
        ({"url": ""}, "no address"),
        ({"model": ""}, "assistant.model is empty"),
        ({"max_calls": 10}, "max_calls is 10"),
        ({"price": 1.0, "max_cost": 5.0}, "max_cost is 5.00"),
    ],
)
def test_nothing_is_sent_against_the_owner_s_word_or_above_the_cap(
    project: Project, server: Server, settings: dict[str, Any], fault: str
) -> None:
    with pytest.raises(InputError) as told:
        asking(project, server, **settings).assistants.ask("seer")
    assert fault in " ".join([str(told.value), *told.value.faults])
    assert not server.calls
    assert project.assistants.list().table.empty


def test_what_was_answered_before_the_server_failed_is_kept(project: Project, server: Server) -> None:
    asked = asking(project, server)
    server.status = [200, 503, *[200] * 24, *[500] * 50]  # busy once, then down
    with pytest.raises(InputError, match="Answers so far are kept"):
        asked.assistants.ask("seer", origins=["pool"])
    assert asked.assistants.list().table["pairs"].tolist() == [25]
    server.status = []
    assert asked.assistants.ask("seer", origins=["pool"]).pairs == 81


def test_nonsense_ends_the_asking_and_is_not_stored(project: Project, server: Server) -> None:
    asked = asking(project, server)
    server.say = lambda number, word: word if number <= 10 else {"poem": "roses"}
    with pytest.raises(InputError, match="none of similar, different, unsure"):
        asked.assistants.ask("seer", origins=["pool"])
    assert asked.assistants.list().table["pairs"].tolist() == [10]
    assert len(server.calls) < 20
    server.say = lambda number, word: "I am unsure" if number % 2 else "Unsure"
    with pytest.raises(InputError):
        asked.assistants.ask("other", limit=20)
    assert asked.assistants.list().table.set_index("name").loc["other", "answered"] == 0


def test_a_key_travels_encrypted_only(project: Project, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEER_KEY", "a-secret")
    with pytest.raises(InputError, match="unencrypted") as told:
        asking(project, server, url="http://models.example/v1", key="SEER_KEY").assistants.ask("seer")
    assert "a-secret" not in str(told.value)
    with pytest.raises(ConfigError):
        asking(project, server, url="ftp://models.example")


def test_the_commands_say_what_the_verbs_return(project: Project) -> None:
    def run(*words: str) -> Any:
        answer = CliRunner().invoke(group, [*words, "--json", "-q", "-p", str(project.root)], catch_exceptions=False)
        return json.loads(answer.stdout)

    assert run("import", "helper", str(file_of(project)))["name"] == "helper"
    assert run("list")["table"][0]["kind"] == "file"
    assert run("agreement", "helper")["table"][0]["slice"] == "all"
    assert [row["quantity"] for row in run("estimate", "helper")["table"]][:2] == ["p", "p_k"]
    for words in (["list"], ["agreement", "helper"], ["estimate", "helper"], ["learn", "relevance"]):
        shown = CliRunner().invoke(group, [*words, "-q", "-p", str(project.root)], catch_exceptions=False)
        assert shown.exit_code == 0
        assert len(shown.stdout.splitlines()) >= 1
    with pytest.raises(EdsError, match="another one"):
        project.assistants.learn("helper")
