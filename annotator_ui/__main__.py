"""`python -m annotator_ui --project DIR`: what `eds labels serve` starts."""

import sys
from pathlib import Path

import click

from eds.errors import EdsError


@click.command()
@click.option("--project", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=int, default=8501)
@click.option("--base-path", "base", default="")
@click.option("--proxy", "proxies", multiple=True)
@click.option("--identity-header", default="")
@click.option("--public-url", default="")
@click.option("--https", is_flag=True)
@click.option("--insecure-http", is_flag=True)
@click.option("--openid", "openid_file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--no-prepare", is_flag=True)
@click.option("--invite", "invited", multiple=True)
@click.option("--browser", is_flag=True)
@click.option("--json", "as_json", is_flag=True)
def run(
    folder: Path,
    host: str,
    port: int,
    base: str,
    proxies: tuple[str, ...],
    identity_header: str,
    public_url: str,
    https: bool,
    insecure_http: bool,
    openid_file: Path | None,
    no_prepare: bool,
    invited: tuple[str, ...],
    browser: bool,
    as_json: bool,
) -> None:
    """Serve one project until the process ends."""
    from annotator_ui.app_state import Options, Site
    from annotator_ui.auth.client import parse_networks
    from annotator_ui.auth.openid import read_openid
    from annotator_ui.launcher import address_of, listen, own_names, parse_public_url, refuse_plain_http, serve
    from annotator_ui.server import build
    from annotator_ui.startup_message import invitations, print_startup
    from eds.project import Project
    from eds.project.label_store import keep_open

    project = Project.open(folder)
    public = parse_public_url(public_url or project.config.annotator.url)
    options = Options(
        base.rstrip("/") or public.base,
        parse_networks(proxies),
        identity_header,
        https or public.https,
        read_openid(openid_file) if openid_file else None,
        not no_prepare,
        public.hosts | own_names(),
    )
    refuse_plain_http(host, safe=bool(options.https or proxies or insecure_http))
    listener = listen(host, port)
    try:
        project.actor = "command line"
        keep_open(project)
        site = Site(project, options)
        address = public.url or address_of(listener, options.base)
        links = invitations(project, address, invited)
        serve(build(site), listener, lambda: print_startup(address, links, browser=browser, as_json=as_json))
    finally:
        project.close()
        listener.close()


def main() -> None:
    """Run, and turn errors into one line and an exit code."""
    try:
        run.main(prog_name="eds labels serve", standalone_mode=False)
    except EdsError as error:
        click.echo(f"eds: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        click.echo(f"eds labels serve: {error.format_message()}", err=True)
        sys.exit(2)
    except click.Abort:
        sys.exit(130)


if __name__ == "__main__":
    main()
