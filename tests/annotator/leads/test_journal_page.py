"""The page of the journal: what it lists, and that its button takes back what nobody has judged."""

from annotator_ui.app_state import Site
from annotator_ui.texts_leads import JOURNAL
from tests.annotator.leads.pages import run


def test_a_lead_undoes_a_campaign_and_no_judgement_goes(judged: Site, viewer: dict[str, str]) -> None:
    project = judged.owner
    acts = len(project.read("labels"))
    names = [entry.name for entry in project.journal().entries]
    assert names
    app = run("journal")
    kind, _, name = names[-1].partition("-")
    assert app.selectbox[0].options[0] == f"{JOURNAL.kinds[kind]}: {name}"
    app.button[0].click().run()
    assert not app.exception
    assert not app.error
    assert project.journal().entries[-1].undone
    assert JOURNAL.undone in set(run("journal").dataframe[0].value["state"])
    assert len(project.read("labels")) == acts
    viewer.update(name="ann", role="lead")  # the page is mistaken: the account is an expert
    app = run("journal")
    assert not app.button
    assert "may not" in app.error[0].value
