"""Text of other people's (names, reasons, guidelines' titles) inside Streamlit's Markdown, shown as it was typed."""

import re

_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=/@])")


def escape_markdown(text: str) -> str:
    r"""The text so that Markdown shows it letter by letter, on one line.

    >>> escape_markdown("**a** <b> $x$ :red[c] www.d.org")
    '\\*\\*a\\*\\* \\<b\\> \\$x\\$ \\:red\\[c\\] www\\.d\\.org'
    """
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))
