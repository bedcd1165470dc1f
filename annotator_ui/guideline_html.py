"""A guideline's Markdown (CommonMark): as HTML for Streamlit's pages, as plain blocks of text for the judging page.

Its author is trusted with words, not with the page: headings, lists, bold, italic and code only. HTML, links, images,
formulas and addresses are shown as they were typed.
"""

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_HTML = MarkdownIt("zero", {"html": False, "breaks": True}).enable(
    ["heading", "list", "emphasis", "backticks", "newline"]
)
_TEXT = MarkdownIt("zero", {"html": False}).enable(
    ["heading", "list", "emphasis", "backticks", "newline", "link", "image"]
)
_TEXT.validateLink = lambda url: True  # type: ignore[method-assign]  # no address is kept, only the link's text


def guideline_html(markdown: str, language: str = "") -> Markup:
    r"""Return the guideline as HTML; its headings begin at h3, below those of the page. Empty: an unknown language.

    >>> print(guideline_html("# A\n<b> **is** b\n- [a](javascript:b)"))
    <div class="eds-words"><h3>A</h3><p>&lt;b&gt; <strong>is</strong> b</p><ul><li>[a](javascript:b)</li></ul></div>
    """
    tokens = _HTML.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    body: str = _HTML.renderer.render(tokens, _HTML.options, {})
    lang = Markup(' lang="{}"').format(language) if language else ""
    words = body.replace("\n", "")
    return Markup(f'<div class="eds-words"{lang}>{words}</div>')  # noqa: S704 - escaped by the renderer


def guideline_blocks(markdown: str) -> list[dict[str, str]]:
    r"""Return the headings, list items and paragraphs as plain text, in which nothing can become markup.

    >>> guideline_blocks("# Colour\nAsk for the **cut**,\nnot the *colour*.\n\n- sleeves\n2. collar")
    [{'kind': 'heading', 'text': 'Colour'}, {'kind': 'text', 'text': 'Ask for the cut, not the colour.'},
     {'kind': 'item', 'text': 'sleeves'}, {'kind': 'item', 'text': 'collar'}]
    """
    blocks, kinds = list[dict[str, str]](), ["text"]
    for token in _TEXT.parse(markdown):
        if token.type == "inline":
            blocks.append({"kind": kinds[-1], "text": _plain_text(token.children or [])})
        elif token.type in ("heading_open", "list_item_open"):
            kinds.append("heading" if token.type == "heading_open" else "item")
        elif token.type in ("heading_close", "list_item_close"):
            kinds.pop()
    return blocks


def _plain_text(children: list[Token]) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in children)
