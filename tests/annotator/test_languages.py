"""Texts in several languages: complete catalogues, nothing past them, and the reader's language everywhere."""

import ast
import re
import string
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from babel.messages import Message
from babel.messages.pofile import read_po

import annotator_ui
from annotator_ui import catalogues, formats, language
from annotator_ui.app_state import Site
from annotator_ui.texts import ACCOUNTS, HOME, MINE
from annotator_ui.texts_judging import ALL, STATUS
from annotator_ui.translation import for_script
from eds.errors import InputError
from tests.annotator.sites import client_for, fresh_site

FOLDER = Path(annotator_ui.__file__).parent
SOURCES = sorted(path for path in FOLDER.rglob("*.py") if not path.name.startswith("texts"))
# Parameters of Streamlit's that people read, and functions whose first argument they read.
READ = {"label", "help", "placeholder", "title", "alt", "x_label", "y_label"}
SHOWING = {
    "button", "caption", "checkbox", "data_editor", "error", "expander", "file_uploader", "form_submit_button",
    "header", "info", "link_button", "markdown", "metric", "multiselect", "number_input", "page_link", "popover",
    "progress", "radio", "segmented_control", "selectbox", "spinner", "subheader", "success", "text", "text_area",
    "text_input", "title", "toast", "toggle", "warning", "write", "empty", "note", "tag", "put", "show_chart",
    "TextColumn", "NumberColumn", "DatetimeColumn", "ProgressColumn", "LineChartColumn", "SelectboxColumn",
}  # fmt: skip


def messages(path: Path) -> list[Message]:
    with path.open("rb") as file:
        return [entry for entry in read_po(file) if entry.id]


def forms(text: Any) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_german_is_complete_and_fills_in_the_same_values() -> None:
    path = FOLDER / "locale" / "de.po"
    found = messages(path)
    missing = [entry.id for entry in found if not all(forms(entry.string))]
    assert not missing, "translate these in locale/de.po"
    wrong = [
        text
        for entry in found
        for text in forms(entry.string)
        if not fields(text) <= set().union(*map(fields, forms(entry.id)))
        or (len(forms(entry.id)) == 1 and fields(text) != fields(forms(entry.id)[0]))
    ]
    assert not wrong
    current = {(str(entry.id), entry.context) for entry in catalogues.update(path) if entry.id}
    known = {(str(entry.id), entry.context) for entry in found}
    assert current == known, "run python -m annotator_ui.catalogues"


def test_leads_are_addressed_formally() -> None:
    german = " ".join(text for entry in messages(FOLDER / "locale" / "de.po") for text in forms(entry.string))
    assert not re.findall(r"\b(?:[Dd]u|[Dd]ein\w*|[Dd]ich|[Dd]ir|[Ee]uch|[Ee]uer\w*)\b", german)


def test_no_screen_says_a_text_of_its_own() -> None:
    """What Streamlit shows is looked up: no word in quotes is an argument that people read."""
    found = {str(path.relative_to(FOLDER)): list(spoken(ast.parse(path.read_text("utf-8")))) for path in SOURCES}
    assert not {path: texts for path, texts in found.items() if texts}


def spoken(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if ast.unparse(node.func).startswith("LOG."):
            continue
        shown = [item.value for item in node.keywords if item.arg in READ]
        if name in SHOWING:
            shown += node.args[:1]
        for argument in shown:
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            texts = [part.value if isinstance(part, ast.Constant) else "{}" for part in parts]
            words = re.sub(r":material/[^:]*:|:\w+\[|<[^>]*>|https://", "", "".join(map(str, texts)))
            if re.search(r"[A-Za-z]{3}", words):
                yield f"line {argument.lineno}: {words}"


def test_a_text_past_the_catalogues_is_found() -> None:
    assert list(spoken(ast.parse('st.button("Save now", type="primary")')))
    assert list(spoken(ast.parse('st.metric(SAYS.x, 1, help=f"about {n}")')))
    assert not list(spoken(ast.parse('st.markdown(f"**{SAYS.title}**  :material/flag:")')))


def test_no_module_keeps_a_text_from_its_import() -> None:
    """A text is in the language of who reads it, so only titles in decorators (which `say` resolves) are read early."""
    found = {str(path.relative_to(FOLDER)): list(read_early(ast.parse(path.read_text("utf-8")))) for path in SOURCES}
    assert not {path: lines for path, lines in found.items() if lines}
    assert list(read_early(ast.parse("from annotator_ui.texts import HOME\nTITLES = (HOME.title,)")))


def read_early(tree: ast.Module) -> Iterator[int]:
    classes = {
        name.asname or name.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("annotator_ui.texts")
        for name in node.names
    } - {"PRODUCT", "REST_AFTER", "ALL"}
    early: list[ast.AST] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            early += [item for item in (*node.args.defaults, *node.args.kw_defaults) if item is not None]
        elif isinstance(node, ast.ClassDef):
            early += [item for item in node.body if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
        else:
            early.append(node)
    for item in early:
        yield from (part.lineno for part in ast.walk(item) if isinstance(part, ast.Name) and part.id in classes)


def test_scripts_and_templates_hold_no_words() -> None:
    """Texts come from the catalogues: templates have none between their tags, scripts none in quotes."""
    for path in (FOLDER / "templates").glob("*.j2"):
        if path.name == "api.html.j2":
            continue  # for those who write programs: in English, as the library's own messages
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", path.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"<style>.*?</style>|<[^>]*>|\w+=\"[^\"]*\"|&\w+;", " ", text, flags=re.S)
        assert not re.search(r"[A-Za-z]{3}", text), path.name
    words = re.compile(r"""(["'`])[A-Z][a-z]+ [a-z]+[^"'`]*\1""")
    for path in (FOLDER / "judging" / "static").glob("*.js"):
        code = re.sub(r"^\s*//.*|\s//.*$", "", path.read_text(encoding="utf-8"), flags=re.M)
        assert not [found[0] for found in words.finditer(code)], path.name


def test_a_text_is_in_the_language_of_the_moment() -> None:
    assert HOME.title == "Your campaigns"
    with language.speaking("de"):
        assert HOME.title == "Ihre Kampagnen"
        assert HOME.progress.format(done=1234, total=20_000, share=0.0617) == "1.234 von 20.000 beurteilt (6 %)"
        assert MINE.count.format(n=1) == "1 Antwort"
        assert MINE.answers["different"] == "Nicht ähnlich"
        assert STATUS["saved"] == "Gespeichert"
    with language.speaking("fr"):  # without a catalogue: the source
        assert HOME.title == "Your campaigns"


def test_numbers_and_dates_are_those_of_the_language() -> None:
    moment = datetime(2026, 3, 5, 9, 4)
    assert (formats.number(1234.5, 1), formats.percent(0.092), formats.date(moment)) == (
        "1,234.5",
        "9.2 %",
        "5 Mar 2026",
    )
    assert formats.listed(["a", "b", "c"]) == "a, b and c"
    with language.speaking("de"):
        assert (formats.number(1234.5, 1), formats.percent(0.092)) == ("1.234,5", "9,2 %")
        assert (formats.day(moment), formats.date(moment), formats.time(moment)) == ("5. März", "05.03.2026", "09:04")
        assert formats.interval(0.086, 0.098) == "8,6 bis 9,8 %"
        assert formats.listed(["a", "b", "c"]) == "a, b und c"


def test_scripts_get_every_form_of_a_plural() -> None:
    with language.speaking("de"):
        found = for_script(*ALL)
    assert found["page"]["back"] == "Kampagnen"
    assert found["status"]["offline"] == {
        "by": "count", "one": "{count} wartet, offline seit {time}", "other": "{count} warten, offline seit {time}"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("own", "accepted", "expected"),
    [
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "fr,en;q=0.5,de;q=0.7", "de"),
        ("", "ja", "en"),
        ("", "de;q=0, en;q=0.1", "en"),
        ("", ";;;q=x,,", "en"),
        ("en", "de", "en"),
        ("tlh", "de", "de"),
        ("", "", "en"),
    ],
)
def test_the_accounts_language_comes_before_the_browsers(own: str, accepted: str, expected: str) -> None:
    assert language.chosen(own, accepted) == expected


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with fresh_site(tmp_path) as found:
        yield found


def test_pages_are_in_the_browsers_language_and_say_so(site: Site) -> None:
    page = client_for(site).get("/sign-in", headers={"accept-language": "de-CH,en;q=0.4"})
    assert '<html lang="de">' in page.text
    with language.speaking("de"):
        assert str(ACCOUNTS.forgotten) in page.text
    assert '<html lang="en">' in client_for(site).get("/sign-in", headers={"accept-language": "fr"}).text


def test_a_chosen_language_is_kept_with_the_account(site: Site) -> None:
    client = client_for(site, "ann")
    page = client.get("/language")
    assert 'value="de" aria-pressed="false" class=second lang="de">Deutsch' in page.text
    token = re.findall('name="token" value="([^"]+)"', page.text)[0]
    forged = client.post("/language", data={"token": "x", "language": "de"})
    assert (forged.status_code, site.project.experts.session_numbered(1).language) == (403, "")  # type: ignore[union-attr]
    answer = client.post("/language", data={"token": token, "language": "de"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    german = client.get("/language", headers={"accept-language": "en"})
    assert '<html lang="de">' in german.text
    assert "Deutsch ✓" in german.text
    client.post("/language", data={"token": token, "language": "../x"})
    assert '<html lang="de">' in client.get("/language").text
    client.post("/language", data={"token": token, "language": ""})
    assert '<html lang="en">' in client.get("/language", headers={"accept-language": "en"}).text


def test_a_project_adds_a_language_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_folders", list(language._folders))
    (tmp_path / "fr.po").write_text('msgid "Your campaigns"\nmsgstr "Vos campagnes"\n', encoding="utf-8")
    try:
        language.add_folder(tmp_path)
        assert dict(language.languages()) == {"en": "English", "de": "Deutsch", "fr": "Français"}
        with language.speaking("fr"):
            assert (HOME.title, HOME.done, formats.number(1.5, 1)) == ("Vos campagnes", "all judged", "1,5")
        (tmp_path / "klingon!.po").write_text("", encoding="utf-8")
        with pytest.raises(InputError, match="is not a language"):
            language.add_folder(tmp_path)
    finally:
        language.add_folder(language.FOLDER)
