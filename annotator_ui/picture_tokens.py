"""Opaque picture names: deterministic, unforgeable, each good for one viewer, without any table.

An image's id and a mark of its content are encrypted under the project's secret: the synthetic-IV construction with
HMAC-SHA256 both as the function that makes the IV and as the key stream. Equal images of one viewer have equal names;
names of two viewers have nothing in common; a name that was not made here opens nothing.
"""

import base64
import binascii
import hmac
from hashlib import sha256

from annotator_ui.auth.secret import derived

IV = 16
MARK = 8
BLOCK = 32  # lengths are padded to whole blocks, so that they tell little


class Keys:
    """What seals and opens names."""

    def __init__(self, secret: bytes) -> None:
        self._mac, self._stream = derived(secret, "picture names: iv"), derived(secret, "picture names: stream")

    def seal(self, viewer: str, image_id: str, content: str) -> str:
        """The name of an image of this content, for this viewer.

        >>> keys = Keys(bytes(32))
        >>> name = keys.seal("e1", "img/1.jpg", "digest")
        >>> keys.open("e1", name) == ("img/1.jpg", mark("digest")), keys.open("e2", name)
        (True, None)
        """
        plain = mark(content) + image_id.encode()
        plain += b"\x80" + bytes(-(len(plain) + 1) % BLOCK)
        first = self._iv(viewer, plain)
        return base64.urlsafe_b64encode(first + self._crypt(first, plain)).decode().rstrip("=")

    def open(self, viewer: str, name: str) -> tuple[str, bytes] | None:
        """The id and the mark of the content that a name was made of; None unless it was made here for this viewer."""
        try:
            data = base64.b64decode(name + "=" * (-len(name) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        first, plain = data[:IV], self._crypt(data[:IV], data[IV:])
        if len(data) <= IV or not hmac.compare_digest(first, self._iv(viewer, plain)):
            return None
        return plain[MARK:].rstrip(b"\0")[:-1].decode(), plain[:MARK]

    def _iv(self, viewer: str, plain: bytes) -> bytes:
        who = viewer.encode(errors="surrogatepass")
        return hmac.digest(self._mac, len(who).to_bytes(4, "big") + who + plain, "sha256")[:IV]

    def _crypt(self, first: bytes, data: bytes) -> bytes:
        blocks = range(-(-len(data) // BLOCK))
        stream = b"".join(hmac.digest(self._stream, first + block.to_bytes(4, "big"), "sha256") for block in blocks)
        return bytes(one ^ other for one, other in zip(data, stream, strict=False))


def mark(content: str) -> bytes:
    """A few bytes that tell one content from another."""
    return sha256(content.encode()).digest()[:MARK]
