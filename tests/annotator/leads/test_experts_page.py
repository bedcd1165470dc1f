"""The page of experts: who may invite whom, and refusals shown as they are."""

from annotator_ui.app_state import Site
from annotator_ui.texts_leads import EXPERTS
from eds.labels.experts import list_experts
from tests.annotator.judged import NASTY
from tests.annotator.leads.pages import page_text, run
from tests.annotator.sites import store_of


def test_leads_invite_experts_only_and_administrators_do_the_rest(judged: Site, viewer: dict[str, str]) -> None:
    app = run("experts")
    assert app.selectbox[0].options == ["expert"]
    assert [one.options for one in app.selectbox][1] == ["ann", "bob", "cid"]
    assert EXPERTS.administrators in page_text(app)
    app.text_area[0].input("new <b>one</b>")
    app.button[0].click().run()
    assert not app.exception
    link = app.code[0].value
    assert "/invitation/" in link
    row = list_experts(store_of(judged.owner)).set_index("name").loc["new <b>one</b>"]
    assert (row["role"], row["state"]) == ("expert", "invited")
    app.run()
    assert not app.code  # shown once
    app.text_area[0].input("ann")
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
    app.text_area[0].input("dora")
    app.button[0].click().run()
    assert "the role expert may not invite 'dora'" in app.error[0].value
    assert "dora" not in set(list_experts(store_of(judged.owner))["name"])


def test_a_sentence_of_the_library_is_shown_as_typed(judged: Site, viewer: dict[str, str]) -> None:
    app = run("experts")
    app.text_area[0].input("\u200b" + NASTY[:40])
    app.button[0].click().run()
    assert not app.exception
    assert "\\<script\\>" in app.error[0].value
