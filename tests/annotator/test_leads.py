"""The lead's screens in one process: what they show against the library, empty states, refusals; the export route."""

import io
import shutil
from collections.abc import Iterator
from contextlib import closing
from html import escape
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotator_ui import exporting
from annotator_ui.gate import Gate
from annotator_ui.leading import figures, page, show
from annotator_ui.site import Site, Viewer, install
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_leads import AGREEMENT, COMMON, COVERAGE, EXPERTS, POOL
from annotator_ui.words import as_html
from eds import tables
from eds.intervals import wilson_interval
from eds.labels.adjudication import adjudicate
from eds.labels.campaigns import close_campaign
from eds.labels.experts import add_expert, list_experts
from eds.labels.frames import labels_frame
from eds.labels.gold import gold_to_hide
from eds.labels.leading import gold_answers
from eds.labels.queue import progress
from eds.labels.sessions import sign_in_vouched
from eds.labels.store import open_store
from eds.labels.transfer import export_votes
from eds.truth import expert_profiles, panel_agreement
from eds.truth.modes import ModesCompared
from eds.workspace import Project
from tests.annotator.judged import GRID, NAME, NASTY, RANDOM, furnish
from tests.annotator.sites import fresh_site

SCREENS = Path(page.__file__).parents[1] / "screens"
LEADS = ("campaigns", "coverage", "agreement", "pool_yield", "disputed", "experts", "export")


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Who looks; tests may put in another role."""
    who = {"name": "lea", "role": "lead"}
    monkeypatch.setattr(page, "viewer", lambda: Viewer(who["name"], who["role"], 1))
    st.cache_data.clear()
    yield who
    st.cache_data.clear()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small project with campaigns that were judged; every test gets a copy."""
    folder = tmp_path_factory.mktemp("judged")
    with fresh_site(folder) as made:
        add_expert(made.opened, "cid")
        images = made.project.read("images")
        more = [
            images.assign(image_id=[f"{one}/{turn}" for one in images["image_id"]], role="both") for turn in range(12)
        ]
        made.project.write(pd.concat(more, ignore_index=True), "images", tables.Provenance("test"))
        furnish(made.project, made.opened)
    return folder / "shop"


@pytest.fixture
def judged(template: Path, tmp_path: Path) -> Iterator[Site]:
    """A site of its own over that project."""
    shutil.copytree(template, tmp_path / "shop")
    project = Project.open(tmp_path / "shop")
    with closing(open_store(project.path("labels"))) as store:
        made = Site(project, store)
        install(made)
        yield made


def run(screen: str, campaign: str | None = None) -> AppTest:
    """The screen as it stands after its first run; alone it knows no other page to point to."""
    app = AppTest.from_file(str(SCREENS / f"{screen}.py"), default_timeout=30)
    if campaign is not None:
        app.session_state[page.CHOSEN] = campaign
    found = app.run()
    assert all("Could not find page" in one.message for one in found.exception), found.exception
    return found


def html(app: AppTest) -> str:
    """All our HTML on the screen."""
    return "\n".join(str(one.proto.body) for one in app.get("html"))


@pytest.mark.parametrize("screen", [*LEADS, "adjudicate", "report"])
def test_experts_see_nothing_of_a_leads_page(screen: str, judged: Site, viewer: dict[str, str]) -> None:
    viewer["role"] = "expert"
    app = run(screen)
    assert [one.value for one in (*app.header, *app.markdown)] == [COMMON.refused_title, COMMON.refused]
    assert not app.get("html")
    assert not app.button


@pytest.mark.parametrize("screen", LEADS)
def test_empty_states(screen: str, site: Site, viewer: dict[str, str]) -> None:
    app = AppTest.from_file(str(SCREENS / f"{screen}.py"), default_timeout=30).run()
    # Alone a screen knows no other page to point to; everything before that link is there.
    assert all("Could not find page" in one.message for one in app.exception)
    assert {"experts": EXPERTS.table}.get(screen, COMMON.none_title) in html(app)


@pytest.mark.parametrize("screen", LEADS)
def test_all_text_of_others_is_escaped(screen: str, judged: Site, viewer: dict[str, str]) -> None:
    shown = html(run(screen, NAME))
    assert "<script>alert" not in shown
    assert "<b>1</b>" not in shown
    if screen == "campaigns":
        assert f"<bdi>{escape(NAME)}</bdi>" in shown
    if screen == "disputed":
        assert NAME not in shown


def test_coverage_shows_what_the_store_says(judged: Site, viewer: dict[str, str]) -> None:
    shown = html(run("coverage", NAME))
    counts = progress(judged.opened, NAME)
    assert show.figures((COVERAGE.judged, int(counts["done"].sum()), COVERAGE.judged_about.format(
        total=int(counts["total"].sum()))))[:-6] in shown  # fmt: skip
    for one in counts.itertuples():
        row = f"<bdi>{one.expert}</bdi></td><td>"
        assert row in shown
        assert f'<td class="n">{one.done:,}</td><td class="n">{one.left}</td>' in shown
    assert COVERAGE.failed in shown  # bob's calibration
    assert COVERAGE.passed in shown or COVERAGE.failed in shown


def test_agreement_shows_the_librarys_figures(judged: Site, viewer: dict[str, str]) -> None:
    shown = html(run("agreement", NAME))
    labels = labels_frame(judged.opened, campaign=NAME)
    expected = panel_agreement(labels).coefficients.set_index("coefficient")
    for name in ("percent_agreement", "krippendorff_alpha", "gwet_ac1"):
        row = expected.loc[name]
        assert f'<bdi>{escape(AGREEMENT.names[name])}</bdi></td><td class="n"><bdi>{row["value"]:.3f}</bdi>' in shown
        assert f"{row['low']:.3f} to {row['high']:.3f}" in shown
    for one in expert_profiles(labels).itertuples():
        assert f'<bdi>{one.expert_id}</bdi></td><td class="n">{one.judged}</td>' in shown
    assert AGREEMENT.modes_none in shown


def test_grid_against_pair_and_the_control_subset(judged: Site, viewer: dict[str, str]) -> None:
    shown = html(run("agreement", GRID))
    assert AGREEMENT.control.format(count=18) in shown
    found = figures.agreed(GRID, True, *figures.version(GRID))
    assert found.control == 18
    assert found.modes.both > 0
    assert f"<strong>{found.modes.both}</strong>" in shown


def test_single_models_are_told_of_closed_campaigns_only(judged: Site, viewer: dict[str, str]) -> None:
    shown = html(run("pool_yield", NAME))
    assert POOL.models_open in shown
    assert "beit" not in shown
    close_campaign(judged.opened, NAME)
    shown = html(run("pool_yield", NAME))
    suspects = judged.project.read("suspects")
    for model in ("beit", "clip", "resnet"):
        count = int(suspects["sources"].fillna("").str.contains(f"{model}:").sum())
        assert f'<bdi>{model}</bdi></td><td class="n">{count}</td>' in shown


def test_p_of_random_pairs_is_corrected_by_known_positives(judged: Site, viewer: dict[str, str]) -> None:
    found = figures.yielded(RANDOM, *figures.version(RANDOM), figures.catalogue())
    truth, asked = figures.decided(RANDOM, *figures.version(RANDOM))
    assert asked == 60
    assert found.drawn == (int(truth["value"].sum()), len(truth))
    assert found.random is not None
    assert found.random.raw == pytest.approx(truth["value"].mean())
    assert found.known[1] > 0
    assert found.random.sensitivity == pytest.approx(found.known[0] / found.known[1])
    shown = html(run("pool_yield", RANDOM))
    assert POOL.corrected in shown
    assert show.percent(found.random.corrected, 2) in shown


def test_leads_invite_experts_only_and_administrators_do_the_rest(judged: Site, viewer: dict[str, str]) -> None:
    app = run("experts")
    assert app.selectbox[0].options == ["expert"]
    assert [one.options for one in app.selectbox][1] == ["ann", "bob", "cid"]
    assert EXPERTS.administrators in html(app)
    app.text_input[0].input("new <b>one</b>")
    app.button[0].click().run()
    assert not app.exception
    link = app.code[0].value
    assert "/invitation/" in link
    row = list_experts(judged.opened).set_index("name").loc["new <b>one</b>"]
    assert (row["role"], row["state"]) == ("expert", "invited")
    app.run()
    assert not app.code  # shown once
    app.text_input[0].input("ann")
    app.button[0].click().run()
    assert "already" in app.error[0].value
    viewer.update(name="ada", role="administrator")
    app = run("experts")
    assert app.selectbox[0].options == ["expert", "lead", "administrator"]
    assert "ada" not in app.selectbox(key="lock-whom").options


def test_a_form_that_forgets_rights_changes_nothing(judged: Site, viewer: dict[str, str]) -> None:
    """The library refuses, whatever a page lets through."""
    viewer.update(name="ann", role="administrator")  # the page is mistaken; the account ann is an expert
    app = run("experts")
    app.text_input[0].input("dora")
    app.button[0].click().run()
    assert "ann is expert" in app.error[0].value or "a expert may not" in app.error[0].value
    assert "dora" not in set(list_experts(judged.opened)["name"])


def test_a_new_grid_is_told_which_known_pairs_it_can_hide(judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaigns")
    app.session_state["campaigns_section"] = CAMPAIGNS.tabs[1]
    app.run()
    assert app.radio[0].value == "pair"  # 24 judged both ways do not settle it
    app.radio[0].set_value("grid").run()
    assert app.radio[1].value == "similar"  # as most of the pool are
    suspects = judged.project.read("suspects")
    pooled = suspects[suspects["origin"] == "pool"]
    assert CAMPAIGNS.gold_usable["similar"].format(known=gold_to_hide(judged.store, pooled, "similar")) in html(app)
    app.number_input[1].set_value(100).run()
    assert any("would be needed" in one.value for one in app.warning)
    [origins] = [one for one in app.multiselect if one.label == CAMPAIGNS.origins]
    origins.set_value(["random"]).run()
    assert app.radio[1].value == "different"  # as nearly all random pairs are
    random = suspects[suspects["origin"] == "random"]
    assert CAMPAIGNS.gold_usable["different"].format(known=gold_to_hide(judged.store, random, "different")) in "".join(
        [html(app), *(one.value for one in app.warning)]
    )


@pytest.mark.parametrize(
    ("alike", "mode", "said"), [(400, "grid", CAMPAIGNS.mode_agrees), (40, "pair", CAMPAIGNS.mode_open)]
)
def test_grid_is_preselected_once_it_agrees_with_pair(
    judged: Site, viewer: dict[str, str], monkeypatch: pytest.MonkeyPatch, alike: int, mode: str, said: str
) -> None:
    both = alike + alike // 20
    low, high = wilson_interval(alike, both)
    found = ModesCompared(both, alike, alike / both, float(low), float(high), 0.8, 1, 1, 6.0, 1.5)
    monkeypatch.setattr(figures, "modes_compared", lambda _: found)
    app = run("campaigns")
    app.session_state["campaigns_section"] = CAMPAIGNS.tabs[1]
    app.run()
    assert app.radio[0].value == mode
    assert f"{both:,}; alike {show.percent(alike / both, 0)}" in html(app)
    assert said in html(app)


def test_known_pairs_are_counted_and_decisions_taken_over(judged: Site, viewer: dict[str, str]) -> None:
    before = gold_answers(judged.store)
    pooled = judged.project.read("suspects").query("origin == 'pool'")
    queries, candidates = (pooled[name].astype(str).tolist() for name in ("query_id", "candidate_id"))
    for place in (0, 1):
        adjudicate(judged.store, NAME, queries[place], candidates[place], 1 - place, by="lea", token=f"t{place}")
    app = run("campaigns")
    app.session_state["campaigns_section"] = CAMPAIGNS.tabs[4]
    app.run()
    for words, value in zip(CAMPAIGNS.known_counts, (1, 0), strict=True):
        assert words in html(app)
        assert f"<strong>{(before['value'] == value).sum()}</strong>" in html(app)
    [take] = [one for one in app.button if one.label == CAMPAIGNS.known_decided.format(count=2)]
    take.click().run()
    assert "2 known pairs are new" in app.success[0].value
    after = gold_answers(judged.store)
    assert after["value"].value_counts().sub(before["value"].value_counts()).to_dict() == {1: 1, 0: 1}
    one, other, third = judged.project.read("images")["image_id"].head(3)
    for rows, told in ((f"{one},{other}", "Every row needs"), (f"{one},nowhere,1", "nowhere"), ("", "Every row needs"),
                       (f"{one},{other},2", "value 1 or 0")):  # fmt: skip
        app.text_area[0].set_value(rows)
        [add] = [button for button in app.button if button.label == CAMPAIGNS.known_add]
        add.click().run()
        assert told in app.error[0].value
    app.text_area[0].set_value(f"query_id,candidate_id,value\n{one}, {other}, 1\n\n{other},{third},0\n")
    [add] = [button for button in app.button if button.label == CAMPAIGNS.known_add]
    add.click().run()
    assert len(gold_answers(judged.store)) == len(after) + 2


def test_a_sentence_of_the_library_is_shown_as_typed(judged: Site, viewer: dict[str, str]) -> None:
    app = run("experts")
    app.text_input[0].input("\u200b" + NASTY[:40])
    app.button[0].click().run()
    assert not app.exception
    assert "\\<script\\>" in app.error[0].value


def test_the_export_route_gives_what_the_store_holds_to_leads_only(judged: Site, tmp_path: Path) -> None:
    for kind in ("csv", "jsonl", "parquet", "crowdkit"):
        answer = client(judged, "lea").get(f"/export/{kind}", params={"campaign": NAME})
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-disposition"].startswith("attachment")
        file = tmp_path / f"votes.{kind}"
        export_votes(judged.opened, file, kind, only=NAME)
        if kind == "parquet":
            assert pq.read_table(io.BytesIO(answer.content)).equals(pq.read_table(file))
        else:
            assert answer.content == file.read_bytes()
    everything = client(judged, "ada").get("/export/csv")
    assert len(pd.read_csv(io.BytesIO(everything.content))) == len(labels_frame(judged.opened))
    assert client(judged, "ann").get("/export/csv").status_code == 403
    assert client(judged, None).get("/export/csv").status_code == 401
    assert client(judged, "lea").get("/export/xml").status_code == 404
    assert client(judged, "lea").get("/export/csv", params={"campaign": "none"}).status_code == 422
    assert client(judged, "lea").post("/export/csv", headers={"X-EDS": "1"}).status_code == 405


def client(site: Site, who: str | None) -> TestClient:
    """A browser that talks to the export route behind the gate."""
    app = Starlette(routes=exporting.routes(site.base), middleware=[Middleware(Gate, site=site)])
    found = TestClient(app, follow_redirects=False)
    if who is not None:
        found.cookies.set("eds_session", sign_in_vouched(site.opened, who, by="test"), domain="testserver.local")
    return found


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("", ""),
        ("a\nb\n\nc", "<p>a<br>b</p><p>c</p>"),
        ("### Deep\n1. one\n2) two", "<h5>Deep</h5><ol><li>one</li><li>two</li></ol>"),
        ("a *b* **c** _d_ `e` snake_case_x 2*3*4", "<p>a <em>b</em> <strong>c</strong> <em>d</em> <code>e</code> "
         "snake_case_x 2*3*4</p>"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("![i](http://a.b/c.png) [x](javascript:y) $z$ :red[r] &lt;",
         "<p>![i](http://a.b/c.png) [x](javascript:y) $z$ :red[r] &amp;lt;</p>"),
        ("**<b>**", "<p><strong>&lt;b&gt;</strong></p>"),
    ],
)  # fmt: skip
def test_a_guidelines_words(words: str, shown: str) -> None:
    assert as_html(words) == f'<div class="eds-words">{shown}</div>'
