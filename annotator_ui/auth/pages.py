"""Our own pages as HTML: whole, without a script, without anything from elsewhere. All text is escaped here."""

from collections.abc import Sequence
from html import escape

from starlette.responses import HTMLResponse, Response

from annotator_ui.auth.security_headers import PLAIN
from annotator_ui.texts import PRODUCT
from annotator_ui.theme import STYLE


def page(title: str, parts: Sequence[str], *, project: str, status: int = 200) -> Response:
    """A page with a heading; `parts` are finished HTML."""
    body = "\n".join(parts)
    text = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>{escape(title)} · {escape(project)}</title>
<link rel="icon" href="data:,"><style>{STYLE}</style></head>
<body><main><h1>{escape(title)}</h1>
{body}
</main><footer>{escape(PRODUCT)} · {escape(project)}</footer></body></html>"""
    headers = {"Content-Security-Policy": PLAIN, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    return HTMLResponse(text, status, headers)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph; `kind` is quiet or nothing."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def wrong(text: str) -> str:
    """What went wrong, told to screen readers at once."""
    return f'<p class="wrong" role="alert">{escape(text)}</p>' if text else ""


def form(action: str, token: str, fields: Sequence[str]) -> str:
    """A form that is sent to `action`, with its token."""
    inner = "\n".join(fields)
    return (
        f'<form method="post" action="{escape(action)}">'
        f'<input type="hidden" name="token" value="{escape(token)}">{inner}</form>'
    )


def text_field(name: str, label: str, *, value: str = "", focus: bool = False, filled: str = "") -> str:
    """A line of text; `filled` says to the browser what belongs there."""
    return _field("text", name, label, value, focus, filled, 'autocapitalize="none" spellcheck="false"')


def password_field(name: str, label: str, *, focus: bool = False, filled: str, shortest: int = 0) -> str:
    """A password, which is never shown again."""
    return _field("password", name, label, "", focus, filled, f'minlength="{shortest}"' if shortest else "")


def hidden(name: str, value: str) -> str:
    """A value that is sent along."""
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'


def username(name: str) -> str:
    """Whose password it is, for the browser's password store; not shown."""
    return f'<input type="text" name="username" value="{escape(name)}" autocomplete="username" hidden>'


def button(label: str, *, name: str = "", second: bool = False) -> str:
    """A button that sends the form; `name` tells which one it was."""
    named = f' name="act" value="{escape(name)}"' if name else ""
    kind = ' class="second"' if second else ""
    return f'<button type="submit"{named}{kind}>{escape(label)}</button>'


def link(target: str, label: str, *, second: bool = False) -> str:
    """A link that looks like a button."""
    return f'<a class="button{" second" if second else ""}" href="{escape(target)}">{escape(label)}</a>'


def _field(kind: str, name: str, label: str, value: str, focus: bool, filled: str, further: str) -> str:
    return (
        f'<label for="{name}">{escape(label)}</label>'
        f'<input type="{kind}" id="{name}" name="{name}" value="{escape(value)}" autocomplete="{filled}" required '
        f"{further}{' autofocus' if focus else ''}>"
    )
