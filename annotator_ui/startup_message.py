"""What the terminal says when the server is ready, and the browser that is opened."""

import json
import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence

import click

from eds.project import Project


def invitations(project: Project, address: str, names: Sequence[str]) -> dict[str, str]:
    """A fresh link for each of these people: it signs them in, once."""
    return {name: f"{address}invitation/{project.experts.invite(name).invitation}" for name in names}


def print_startup(address: str, links: Mapping[str, str], *, browser: bool = False, as_json: bool = False) -> None:
    """Print the address and the links; open the first of them where there is a screen."""
    if as_json:
        click.echo(json.dumps({"address": address, "invitations": dict(links)}))
    else:
        click.echo(f"The annotator is ready: {address}")
        for name, link in links.items():
            click.echo(f"Sign in as {name} (the link opens once): {link}")
        click.echo("Ctrl-C ends it; every judgement is kept.")
    sys.stdout.flush()
    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if browser and screen:
        webbrowser.open(next(iter(links.values()), address))
