"""`eds labels serve`: start the web application where experts judge."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command
from eds.distribution import install
from eds.errors import MissingExtraError, ProjectError

if TYPE_CHECKING:
    from eds.project import Project

NEEDED = ("streamlit", "starlette", "uvicorn", "sqlalchemy", "argon2")


@command(None, "serve", example="eds labels serve --project shop --invite lead-1", reads=True)
@click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0: all interfaces.")
@click.option("--port", type=click.IntRange(0, 65535), default=8501, help="Port; 0 lets the system choose.")
@click.option("--base-path", default="", help="Path prefix behind a proxy, as /eds.")
@click.option("--public-url", default="", metavar="URL", help="Address that browsers use, as https://labels.example.")
@click.option("--demo", is_flag=True, help="Prepare a drawn catalogue, campaigns and two guests.")
@click.option(
    "--invite", "invited", multiple=True, metavar="NAME", help="Print a sign-in link for this account; repeatable."
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option("--no-prepare", is_flag=True, help="Do not prepare pictures in advance.")
@click.option("--https", is_flag=True, help="Served over HTTPS: cookies are marked Secure.")
@click.option("--insecure-http", is_flag=True, help="Allow other hosts than this one without encryption.")
@click.option(
    "--proxy", "proxies", multiple=True, metavar="ADDRESS", help="Trust client addresses from this reverse proxy."
)
@click.option("--identity-header", default="", metavar="NAME", help="Header in which the proxy names the account.")
@click.option("--openid", type=click.Path(path_type=Path, dir_okay=False), help="Settings of OpenID Connect (TOML).")
def serve(
    console: Console,
    host: str,
    port: int,
    base_path: str,
    public_url: str,
    demo: bool,
    invited: tuple[str, ...],
    no_browser: bool,
    no_prepare: bool,
    https: bool,
    insecure_http: bool,
    proxies: tuple[str, ...],
    identity_header: str,
    openid: Path | None,
) -> None:
    """Serve the annotator, where experts judge, until Ctrl-C."""
    _check_installed()
    if demo:
        from eds.project import Project
        from eds.project.demo_campaigns import EXPERT, LEAD, prepare_demo

        if console.project_here is None:
            Project.create(console.folder, {"project.name": "Drawn garments"})
        prepare_demo(console.project)
        invited = (*invited, EXPERT, LEAD)
    _check_people(console.project)
    words = [
        sys.executable,
        "-m",
        "annotator_ui",
        "--project",
        str(console.folder),
        "--host",
        host,
        "--port",
        str(port),
    ]
    words += ["--base-path", base_path] if base_path else []
    words += ["--public-url", public_url] if public_url else []
    words += ["--identity-header", identity_header] if identity_header else []
    words += ["--openid", str(openid)] if openid else []
    words += [part for name in invited for part in ("--invite", name)]
    words += [part for one in proxies for part in ("--proxy", one)]
    flags = {
        "--https": https,
        "--insecure-http": insecure_http,
        "--no-prepare": no_prepare,
        "--browser": not no_browser,
        "--json": console.as_json,
    }
    words += [flag for flag, on in flags.items() if on]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(words[0], words)  # noqa: S606 - no shell: this process becomes the server


def _check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the annotator needs {', '.join(missing)}, not installed here", hint=f"Run: {install('annotator')}."
        )


def _check_people(project: "Project") -> None:
    """Nobody can sign in where there is no account."""
    if not len(project.experts.list()):
        raise ProjectError(
            "nobody has an account yet",
            where=str(project.root),
            hint="Add one: eds labels experts add NAME --role lead.",
        )
