"""The report as one HTML page that needs nothing else: style, script, drawings and pictures are in it.

A policy in its head forbids every request and every script but ours, told by its digest. All text goes through
eds.reports.markup and is escaped there. Every number carries what it is in `value` or `data-value`.
"""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from eds.reports.blocks import block_of
from eds.reports.document import Gap, Report, Section
from eds.reports.markup import Markup, join, tag

HEAD = "<!doctype html>\n"


def page(report: Report) -> str:
    """The whole page as text."""
    script = template("script.js")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
        f" script-src 'sha256-{allowed}'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", report.title),
        tag("style", Markup(template("style.css") + template("figures.css"))),
    )
    body = tag(
        "body",
        tag("a", "To the report", href="#summary", class_="skip"),
        _masthead(report),
        tag("div", _contents(report), tag("main", *map(_section, report.sections)), class_="frame"),
        tag("footer", tag("p", _colophon(report))),
        tag("div", id="tip", role="presentation", hidden=True),
        tag("script", Markup(script)),
    )
    return f"{HEAD}{tag('html', head, body, lang='en')}\n"


def template(name: str) -> str:
    """A file of ours that goes into the page as it is."""
    return files("eds.reports").joinpath(f"templates/{name}").read_text(encoding="utf-8")


def _masthead(report: Report) -> Markup:
    made = report.made
    told = [tag("span", "Made ", tag("time", made["when"]))] if made.get("when") else []
    told += [tag("span", f"eds {made['eds']}")] if made.get("eds") else []
    toggle = tag("button", tag("span", "Theme", class_="long"), type="button", id="theme", aria_label="Switch theme",
                 title="Switch between light and dark")  # fmt: skip
    words = tag("div", tag("p", "Benchmark and bias report", class_="kind"), tag("h1", report.title),
                tag("p", join(told, " · "), class_="made"))  # fmt: skip
    return tag("header", words, toggle, class_="masthead")


def _contents(report: Report) -> Markup:
    entries = []
    for number, section in enumerate(report.sections):
        gaps = [block for block in section.blocks if isinstance(block, Gap)]
        mark = tag("span", " · incomplete", class_="lacks") if gaps else None
        link = tag("a", tag("span", str(number), class_="no"), tag("span", section.title, mark), href=f"#{section.key}")
        entries.append(tag("li", link))
    return tag("nav", tag("p", "Contents", class_="kind"), tag("ol", *entries), aria_label="Contents")


def _section(section: Section) -> Markup:
    head = tag("div", tag("h2", section.title, id=f"{section.key}-title"), tag("p", section.about, class_="about"),
               class_="section-head")  # fmt: skip
    inside = join(block_of(block, section.key) for block in section.blocks)
    return tag("section", head, tag("div", inside, class_="blocks"), id=section.key,
               aria_labelledby=f"{section.key}-title")  # fmt: skip


def _colophon(report: Report) -> Markup:
    made: dict[str, Any] = dict(report.made)
    told = ", ".join(f"{key} {value}" for key, value in made.items() if key not in ("when", "eds"))
    return join([f"Everything here stands as numbers in the JSON and CSV files beside this page. {told}"])
