"""Headings, lists, bold, italic and code of a guideline become HTML; everything else is shown as typed."""

import pytest

from annotator_ui.guideline_html import guideline_html


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("", ""),
        ("a\nb\n\nc", "<p>a<br>b</p><p>c</p>"),
        ("### Deep\n1. one\n2) two", '<h5>Deep</h5><ol><li>one</li></ol><ol start="2"><li>two</li></ol>'),
        (
            "a *b* **c** _d_ `e` snake_case_x 2 * 3",
            "<p>a <em>b</em> <strong>c</strong> <em>d</em> <code>e</code> snake_case_x 2 * 3</p>",
        ),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        (
            "![i](http://a.b/c.png) [x](javascript:y) $z$ :red[r] &lt;",
            "<p>![i](http://a.b/c.png) [x](javascript:y) $z$ :red[r] &amp;lt;</p>",
        ),
        ("**<b>**", "<p><strong>&lt;b&gt;</strong></p>"),
    ],
)
def test_a_guidelines_words(words: str, shown: str) -> None:
    assert guideline_html(words) == f'<div class="eds-words">{shown}</div>'
