"""The application: Streamlit's pages, our own routes beside them, and the gate before everything, in one process.

    auth/middleware.py   before everything: who asks, may they, security headers
    health.py            /health /ready
    auth/accounts.py     /sign-in /invitation/TOKEN /sign-out
    pictures.py          /pictures/SIZE/NAME
    looking/routes.py    /looking/...: the map's points and uploaded pictures, for leads
    sending/routes.py    /catalogue/upload: pictures of a catalogue, from leads
    judging/routes.py    /api/campaigns/... /judging/...
    api/                 /api/v1/...: programs, by token
    exporting.py         files of labels, for leads
    reports.py           /report/page
    compressed_scripts.py  /static/...: Streamlit's scripts
    streamlit_page.py    Streamlit's page
    app.py, screens/     everything else: Streamlit

Pictures and maps are made ahead in the background as long as it runs.
"""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from streamlit.web import bootstrap

from annotator_ui import exporting, health, icon, language, pictures, reports, streamlit_words
from annotator_ui.api import routes as api
from annotator_ui.app_state import SESSION_HEADER, Site, install, site
from annotator_ui.auth import accounts
from annotator_ui.auth.middleware import Gate
from annotator_ui.auth.secret import derived
from annotator_ui.compressed_scripts import CompressedScripts
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.judging import adjudication, practice
from annotator_ui.judging import routes as judging
from annotator_ui.lanes import Lane, in_lane
from annotator_ui.looking import routes as looking
from annotator_ui.screen import own_screens
from annotator_ui.sending import routes as sending
from annotator_ui.streamlit_page import StreamlitPage
from annotator_ui.texts import FAILED
from annotator_ui.theme import THEME
from eds.errors import EdsError
from eds.project import Project

LOG = logging.getLogger(__name__)
LAST_SEEN = 30.0  # seconds between two writings of when sessions were last used
DELIVER = 5.0  # seconds between two looks for what webhooks wait for
LAY_OUT = 60.0  # seconds between two looks for vectors that are new
FORGET = 20  # as many of them between two clearings of what counts no more


def build(of: Site) -> st.App:
    """The application of a site, ready to be served."""
    install(of)
    bootstrap.load_config_options(settings(of))
    if folder := of.project.config.annotator.locale:
        language.add_folder(of.project.root / folder)
    own_screens()  # fails now, not at the first page; ours are loaded by Streamlit, whose caches need its runtime
    base = of.base
    routes: list[BaseRoute] = [
        *health.routes(base),
        *accounts.routes(base),
        *pictures.routes(base),
        *looking.routes(base),
        *sending.routes(base),
        *streamlit_words.routes(base),
        *exporting.routes(base),
        *reports.routes(base),
        *icon.routes(base),
        *judging.routes(base),
        *practice.routes(base),
        *adjudication.routes(base),
        *api.routes(base),
    ]
    app = Path(__file__).with_name("app.py")
    before = [Middleware(Gate, site=of), Middleware(CompressedScripts, base=base), Middleware(StreamlitPage, base=base)]
    return st.App(app, routes=routes, middleware=before, lifespan=_background, on_script_error=_told)


def _told(error: Exception) -> bool:
    """What a page shows that failed; the log has the whole of it. An EdsError is meant to be read."""
    LOG.error("a page failed", exc_info=error)
    st.error(FAILED.known.format(what=escape_markdown(error.what)) if isinstance(error, EdsError) else FAILED.unknown)
    return True


@asynccontextmanager
async def _background(app: st.App) -> AsyncIterator[None]:
    """What goes on as long as the server runs."""
    here = site()
    async with anyio.create_task_group() as tasks:
        if here.options.prepare:
            tasks.start_soon(here.prefetch.run)
            tasks.start_soon(_lay_out, here)
        tasks.start_soon(_keep_house, here.project)
        tasks.start_soon(_deliver, here.project)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()
            here.close()
    await _quietly(here.project.experts.write_last_seen)


async def _lay_out(here: Site) -> None:
    """Lay out the maps of models whose vectors are new, so that a lead's first look at one does not wait."""
    seen: object = None
    while True:
        try:
            now = await in_lane("background", _vectors_of, here.project)
            if now != seen and now:
                await in_lane("background", here.asking.prepare_maps)
            seen = now
        except (EdsError, OSError) as error:
            LOG.warning("maps are not prepared: %s", error)
        await anyio.sleep(LAY_OUT)


def _vectors_of(project: Project) -> list[tuple[str, int]]:
    """Each model's name and when its vectors changed."""
    files = [project.path("embeddings", name) / "model.json" for name in project.models("embeddings")]
    return [(file.parent.name, file.stat().st_mtime_ns) for file in files if file.exists()]


async def _keep_house(project: Project) -> None:
    """Write when sessions were last used, and forget what counts no more: in the background, so nobody waits for it."""
    for turn in count():
        await anyio.sleep(LAST_SEEN)
        await _quietly(project.experts.write_last_seen)
        if turn % FORGET == 0:
            await _quietly(project.experts.forget_old)


async def _deliver(project: Project) -> None:
    """Send what webhooks wait for."""
    while True:
        await anyio.sleep(DELIVER)
        await _quietly(project.webhooks.deliver, "webhooks")


async def _quietly(act: Callable[[], object], lane: Lane = "background") -> None:
    """Do something that may as well be done later."""
    try:
        await in_lane(lane, act)
    except EdsError as error:
        LOG.warning("%s", error)


def settings(of: Site) -> dict[str, Any]:
    """Streamlit's settings: quiet, local, in our look; a user's own config files do not change them."""
    return {
        "global.developmentMode": False,
        "server.headless": True,
        "server.baseUrlPath": of.base.strip("/"),
        "server.cookieSecret": derived(of.secret, "streamlit").hex(),
        "server.fileWatcherType": "none",
        "server.maxUploadSize": 1,  # megabytes; auth/middleware.py lets no upload in
        "server.trustedUserHeaders": {SESSION_HEADER: "session"},  # a session is resumed by its own viewer only
        "server.enableStaticServing": False,
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "server.showEmailPrompt": False,
        "browser.gatherUsageStats": False,
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.showSidebarNavigation": True,
        "logger.hideWelcomeMessage": True,
        "logger.level": "error",
        "runner.fastReruns": True,
        **THEME,
    }
