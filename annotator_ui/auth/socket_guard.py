"""What arrives on an open websocket, held against the session at every message.

Streamlit asks a page's script alone for a rerun of a fragment, not the app's first lines. So the first message that
comes after the session has ended, or its person's role has changed, is replaced by a plain rerun of the whole page:
that says who is signed out, and forgets every fragment of before.
"""

from starlette.types import Message, Receive

from annotator_ui.lanes import in_lane
from eds.errors import EdsError
from eds.project import Project
from eds.project.experts import Session


def guarded(receive: Receive, project: Project, session: Session) -> Receive:
    """Messages as they come, as long as the session stays what it was."""
    role = session.role

    async def receiving() -> Message:
        nonlocal role
        message = await receive()
        if message["type"] != "websocket.receive":
            return message
        try:
            result = await in_lane("gate", project.experts.session_numbered, session.number)
        except EdsError:  # the database is away: the page connects again, and waits until it is there
            return {"type": "websocket.disconnect", "code": 1013, "reason": ""}
        if result is not None and result.role == role:
            return message
        role = role if result is None else result.role
        return {"type": "websocket.receive", "bytes": _plain_rerun(), "text": None}

    return receiving


def _plain_rerun() -> bytes:
    from streamlit.proto.BackMsg_pb2 import BackMsg

    requested = BackMsg()
    requested.rerun_script.query_string = ""
    result: bytes = requested.SerializeToString()
    return result
