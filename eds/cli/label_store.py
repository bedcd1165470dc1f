"""What the commands about labels share: how they show what the label store holds."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from eds.cli.console import Console
from eds.cli.render import format_table
from eds.project.label_store import opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.store import Store


def tell_found(console: Console, find: "Callable[[Store], pd.DataFrame]", if_empty: str) -> None:
    """Answer with what the project's label store holds."""
    with opened(console.project) as store:
        tell_frame(console, find(store), if_empty)


def tell_frame(console: Console, frame: "pd.DataFrame", if_empty: str) -> None:
    """Answer with a frame, or with a sentence where it has no rows."""

    def text() -> str:
        times = map(str, frame.select_dtypes("datetimetz"))
        moments = {name: frame[name].dt.strftime("%Y-%m-%d %H:%M:%S") for name in times}
        shown = frame.assign(**moments).astype(object)
        shown = shown.where(shown.notna(), None)
        return format_table(list(shown.columns), shown.to_numpy().tolist()) if len(shown) else if_empty

    console.answer(frame, text)
