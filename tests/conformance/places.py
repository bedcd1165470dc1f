"""Where the tests' engines work."""

from pathlib import Path
from typing import Any

from eds.config import EngineSettings
from eds.parallel import Engine, Site


def site(engine: Engine, folder: Path, **settings: Any) -> Site:
    return Site(engine, folder / "work", EngineSettings(**settings))
