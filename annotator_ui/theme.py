"""Colours of the product, for Streamlit's pages and for our own: calm, and dark enough to read (AA)."""

from markupsafe import Markup

LIGHT = {
    "background": "#ffffff",
    "surface": "#f4f6f8",
    "text": "#0f1418",
    "quiet": "#56616b",
    "border": "#d5dbe0",
    "primary": "#17618f",
    "on_primary": "#ffffff",
    "link": "#17618f",
    "wrong": "#a3261c",
}
DARK = {
    "background": "#14181c",
    "surface": "#1d2329",
    "text": "#e4e8eb",
    "quiet": "#a2adb6",
    "border": "#39434c",
    "primary": "#2a7aae",
    "on_primary": "#ffffff",
    "link": "#7cbce6",
    "wrong": "#ff9d92",
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"

THEME = {
    f"theme.{theme}.{name}": value
    for theme, colours in (("light", LIGHT), ("dark", DARK))
    for name, value in {
        "primaryColor": colours["primary"],
        "backgroundColor": colours["background"],
        "secondaryBackgroundColor": colours["surface"],
        "textColor": colours["text"],
        "linkColor": colours["link"],
        "borderColor": colours["border"],
    }.items()
} | {
    "theme.font": FONT,
    "theme.codeFont": "ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'Liberation Mono', monospace",
    "theme.metricValueFontSize": "1.4rem",
    "theme.paddingTop": "1.5rem",
    "theme.baseRadius": "small",
    "theme.baseFontSize": 15,
    "theme.headingFontSizes": ["1.6rem", "1.25rem", "1.1rem"],
}


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name.replace('_', '-')}: {value};" for name, value in colours.items())


STYLE = Markup(f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; min-height: 100vh; display: grid; grid-template-rows: 1fr auto; background: var(--surface);
  color: var(--text); font: 15px/1.55 {FONT}; }}
main {{ width: min(26rem, calc(100vw - 2rem)); margin: auto; padding: 2rem; background: var(--background);
  border: 1px solid var(--border); border-radius: 8px; }}
h1 {{ margin: 0 0 .25rem; font-size: 1.35rem; font-weight: 600; overflow-wrap: anywhere; }}
h2 {{ margin: 1.5rem 0 .5rem; font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere; }}
.eds-words :is(h3, h4, h5) {{ margin: 1rem 0 .25rem; font-size: 1rem; font-weight: 600; }}
.eds-words :is(ul, ol) {{ margin: 0 0 1rem; padding-left: 1.2rem; }}
main:has(.eds-words) {{ width: min(34rem, calc(100vw - 2rem)); }}
p {{ margin: 0 0 1rem; overflow-wrap: anywhere; }}
.quiet {{ color: var(--quiet); }}
label {{ display: block; margin: 1rem 0 .25rem; font-weight: 600; }}
input[type=text], input[type=password] {{ width: 100%; padding: .6rem .7rem; font: inherit; color: var(--text);
  background: var(--background); border: 1px solid var(--quiet); border-radius: 5px; }}
button, .button {{ display: block; width: 100%; margin-top: 1.25rem; padding: .65rem 1rem; font: inherit;
  font-weight: 600; text-align: center; text-decoration: none; color: var(--on-primary); background: var(--primary);
  border: 1px solid var(--primary); border-radius: 5px; cursor: pointer; }}
button.second, .button.second {{ color: var(--text); background: var(--background); border-color: var(--quiet);
  margin-top: .75rem; }}
button:hover, .button:hover {{ filter: brightness(1.08); }}
:focus-visible {{ outline: 3px solid var(--link); outline-offset: 2px; }}
.last {{ margin: 1.5rem 0 0; }}
.hint {{ margin: .5rem 0 0; font-size: 13.5px; }}
.wrong {{ margin: 1rem 0 0; padding: .6rem .8rem; border-left: 4px solid var(--wrong); background: var(--surface); }}
a {{ color: var(--link); }}
footer {{ padding: 1rem; text-align: center; color: var(--quiet); font-size: 13px; }}
""")  # noqa: S704 - constants of this file

# Groups on a map, distinguishable on both backgrounds; more groups share the last colour.
GROUPS = (
    "#2a7aae", "#d9622b", "#3a9a5b", "#b8559e", "#c29a1c", "#7a68c9", "#d04a4a", "#3aa3a3", "#8a6d4f", "#e07fa6",
    "#6f9a2e", "#5a86d6", "#b06a2a", "#4f9f86", "#9a5bbf", "#c7774f", "#7d8fa0", "#a3a035", "#c65b7c", "#5f9fc4",
)  # fmt: skip
OTHERS = "#8b949c"
