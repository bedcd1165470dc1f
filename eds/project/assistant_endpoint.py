"""A vision-language model behind an OpenAI-compatible address, asked whether two pictures are similar."""

import base64
import io
import ipaddress
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from eds.distribution import install
from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from eds.config import AssistantSettings
    from eds.project import Project

TRIES = 4
PATIENCE = 60.0  # seconds to wait for an answer
BUSY = (408, 425, 429, 500, 502, 503, 504)
SIDE = 512  # pixels of the longer side that are sent
QUESTION = (
    "Two pictures of products. Would a customer who likes the first look at the second as a likely replacement? "
    "Answer with one word: similar, different or unsure."
)
WORDS: Mapping[str, float | None] = {
    "similar": 1.0,
    "yes": 1.0,
    "different": 0.0,
    "no": 0.0,
    "not": 0.0,
    "unsure": None,
}


class UnreadableError(ValueError):
    """The model answered with something that is none of the words."""


class Endpoint:
    """The model at the address of eds.toml; use as a context."""

    def __init__(self, project: "Project") -> None:
        try:
            import httpx
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "an assistant behind an address needs the package httpx, which is not installed",
                hint=f"Run: {install('http')}.",
            ) from error
        self._httpx, self._project, self._settings = httpx, project, check_settings(project)
        headers = _headers(self._settings)
        self._client = httpx.Client(timeout=PATIENCE, headers=headers, follow_redirects=False)

    def __enter__(self) -> "Endpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def judge(self, query: Mapping[str, Any], candidate: Mapping[str, Any]) -> float | None:
        """1 similar, 0 different, None unsure; UnreadableError for anything else."""
        pictures = [{"type": "image_url", "image_url": {"url": self._picture(image)}} for image in (query, candidate)]
        answer = self._post(
            {
                "model": self._settings.model,
                "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}, *pictures]}],
                "max_tokens": 5,
                "temperature": 0,
            }
        )
        try:
            said = str(answer["choices"][0]["message"]["content"])
        except (KeyError, IndexError, TypeError) as error:
            raise UnreadableError("no choices[0].message.content") from error
        first = said.strip().strip(".\"'*").lower().split(maxsplit=1)[:1]
        if not first or first[0].strip(".,;:!\"'*") not in WORDS:
            raise UnreadableError(said[:80])
        return WORDS[first[0].strip(".,;:!\"'*")]

    def _picture(self, image: Mapping[str, Any]) -> str:
        from eds.imaging import thumbnail

        file = io.BytesIO()
        thumbnail(self._project.pictures, image, SIDE).save(file, "JPEG", quality=88)
        return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()

    def _post(self, content: dict[str, Any]) -> Any:
        """The answer. Busy and broken connections are tried again, and nothing else is."""
        reason = ""
        for trial in range(1, TRIES + 1):
            try:
                answer = self._client.post(self._settings.url, json=content)
            except self._httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            else:
                if answer.status_code == self._httpx.codes.OK:
                    try:
                        return answer.json()
                    except ValueError as error:
                        raise UnreadableError("no JSON") from error
                reason = f"status {answer.status_code}: {answer.text.strip()[:200]}"
                if answer.status_code not in BUSY:
                    break
            if trial < TRIES:
                time.sleep(2.0 ** (trial - 1))
        raise InputError(
            f"the assistant refused or cannot be reached ({reason})",
            where=self._settings.url,
            hint=f"Check assistant.url, assistant.model and the key ({self._settings.key}). Answers so far are kept.",
        )


def check_settings(project: "Project") -> "AssistantSettings":
    """The settings; refused with every reason why nothing may be asked."""
    settings = project.config.assistant
    faults = []
    if not settings.url:
        faults.append("assistant.url is empty: no address to ask")
    if not settings.model:
        faults.append("assistant.model is empty")
    if not settings.send_pictures:
        faults.append("assistant.send_pictures is false: the project's owner has not allowed pictures to be sent")
    if faults:
        raise InputError("no assistant may be asked", where="eds.toml", hint="Set them in [assistant].", faults=faults)
    return settings


def _headers(settings: "AssistantSettings") -> dict[str, str]:
    key = os.environ.get(settings.key)
    if not key:
        return {}
    parts = urlsplit(settings.url)
    if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
        hint = f"Use https, or unset {settings.key}."
        raise InputError("the key would travel unencrypted", where=settings.url, hint=hint)
    return {"Authorization": f"Bearer {key}"}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
