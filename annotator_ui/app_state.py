"""What one server process works on, and who looks at it.

install(Site(...))            once, before the server starts
site().project, site().pictures in routes and screens
viewer()                      in a screen: who is looking, checked at every rerun
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network
from typing import TYPE_CHECKING, NoReturn

from annotator_ui.auth.secret import read_secret
from eds.errors import InputError, ProjectError
from eds.project import Project
from eds.project.experts import Session
from eds.project.received_pictures import ReceivedPictures

if TYPE_CHECKING:
    from annotator_ui.auth.openid import OpenId
    from annotator_ui.jobs import Jobs
    from annotator_ui.looking.asking import Asking
    from annotator_ui.looking.uploads import Uploads
    from annotator_ui.picture_prefetch import PicturePrefetch
    from annotator_ui.pictures import Pictures

ROLES = ("expert", "lead", "administrator")  # each may what those before it may
SESSION_HEADER = "x-eds-session"  # put on the websocket by the gate, for the screens; a client's own is struck out
COOKIE = "eds_session"


@dataclass(frozen=True)
class Viewer:
    """Who is looking: by the gate in `scope["eds.viewer"]`, in screens from `viewer()`."""

    name: str
    role: str
    session: int
    language: str = ""  # that the account has chosen; "": the browser's


@dataclass(frozen=True)
class Options:
    """How a server is reached and whom it trusts; everything is off that is not asked for."""

    base: str = ""  # path before everything, "" or "/eds"
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()  # whose X-Forwarded-For and -Proto count
    identity_header: str = ""  # in which those proxies vouch for an account
    https: bool = False  # cookies only over https, whatever the proxy says
    openid: "OpenId | None" = None
    prepare: bool = True  # make pictures ahead, in the background
    hosts: frozenset[str] = frozenset()  # names that browsers know the server by, beside localhost and numbers

    def __post_init__(self) -> None:
        if self.base and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", self.base):
            raise InputError(f"{self.base!r} is not a base path", where="--base-path", hint="Write it as /eds.")
        if self.identity_header and not self.proxies:
            raise InputError(
                "an identity header is believed from a proxy only", where="--identity-header", hint="Name it: --proxy."
            )


@dataclass
class Site:
    """One project, open: what routes and screens share."""

    owner: Project  # without restrictions, as the server's owner uses it
    options: Options = field(default_factory=Options)

    @cached_property
    def project(self) -> Project:
        """The project of routes and screens: it changes nothing without an account that may."""
        return self.owner.acting_as("", accounts_only=True)

    @property
    def base(self) -> str:
        """The path before everything: "" or "/eds"."""
        return self.options.base

    @cached_property
    def secret(self) -> bytes:
        """32 random bytes that only this project's server knows; other keys are derived from it."""
        return read_secret(self.project.root)

    @cached_property
    def pictures(self) -> "Pictures":
        """The catalogue's pictures under opaque names."""
        from annotator_ui.pictures import Pictures

        return Pictures(self.project, self.secret, self.base)

    @cached_property
    def prefetch(self) -> "PicturePrefetch":
        """What makes pictures ahead."""
        from annotator_ui.picture_prefetch import PicturePrefetch

        return PicturePrefetch(self.pictures, self.project)

    @cached_property
    def uploads(self) -> "Uploads":
        """The pictures that leads search by."""
        from annotator_ui.looking.uploads import Uploads

        return Uploads()

    @cached_property
    def received(self) -> ReceivedPictures:
        """The pictures of a catalogue that leads sent."""
        return ReceivedPictures(self.owner)

    @cached_property
    def asking(self) -> "Asking":
        """Search by a picture file or a text, in a process of its own."""
        from annotator_ui.looking.asking import Asking

        return Asking(self.owner.root)

    @cached_property
    def jobs(self) -> "Jobs":
        """Long work that leads start, in a process of its own."""
        from annotator_ui.jobs import Jobs

        return Jobs(self.owner.root, self.reload)

    def reload(self) -> None:
        """Read eds.toml again: a job may have changed the image root or the models."""
        self.owner.config = self.project.config = Project.open(self.owner.root).config

    def close(self) -> None:
        """End the child processes, if there are any."""
        if "jobs" in vars(self):
            self.jobs.close()
        for name in ("uploads", "asking"):
            if name in vars(self):
                vars(self)[name].close()
        if "pictures" in vars(self):
            self.pictures.queue.close()

    @property
    def name(self) -> str:
        """What pages call the project."""
        return self.project.config.project.name or self.project.root.resolve().name


_installed: list[Site] = []


def install(made: Site) -> None:
    """Make this the site of the process."""
    _installed[:] = [made]


def site() -> Site:
    """The site of this process."""
    if not _installed:
        raise ProjectError("no server is running in this process", hint="Start the annotator with eds labels serve.")
    return _installed[0]


def acting(who: Viewer) -> Project:
    """The project for what this viewer changes: the audit log names them, and they must have the right."""
    return site().project.acting_as(who.name)


def url(path: str) -> str:
    """A path of the application, such as /guide, as the browser must ask for it."""
    return f"{site().base}{path}"


def may(who: Viewer, role: str) -> bool:
    """Whether this viewer has the role, or a higher one."""
    return ROLES.index(who.role) >= ROLES.index(role)


def as_viewer(found: Session) -> Viewer:
    """The viewer of an open session."""
    return Viewer(found.expert, found.role, found.number, found.language)


def viewer() -> Viewer:
    """Who looks at this screen: an open session, asked of the store at every rerun; otherwise the script stops."""
    import streamlit as st

    number = st.context.headers.get(SESSION_HEADER, "")
    result = site().project.experts.session_numbered(int(number)) if number.isdigit() else None
    if result is None:
        _signed_out()
    return as_viewer(result)


def _signed_out() -> NoReturn:
    import streamlit as st

    from annotator_ui.texts import SIGNED_OUT

    st.markdown(f"## {SIGNED_OUT.title}")
    st.write(SIGNED_OUT.body)
    st.link_button(SIGNED_OUT.button, url("/sign-in"), type="primary")
    st.stop()
    raise AssertionError("st.stop does not return")
