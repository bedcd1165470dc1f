"""Opaque picture names: deterministic, unforgeable, each valid for one viewer, without any table.

A name is an image id and a digest of the image's content, encrypted under the project's secret with AES-SIV (RFC 5297);
the viewer is associated data. The same image has the same name for one viewer; names of two viewers have nothing in
common, and a name that was not made here opens nothing.
"""

import base64
import binascii
import hmac
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

MARK = 8  # bytes that identify a content
BLOCK = 32  # plain texts are padded to whole blocks, so that a name's length says little about the id


class PictureTokens:
    """Makes and opens picture names."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESSIV(hmac.digest(secret, b"picture names", "sha512"))

    def seal(self, viewer: str, image_id: str, content: str) -> str:
        """Return the name of an image with this content, for this viewer.

        >>> tokens = PictureTokens(bytes(32))
        >>> name = tokens.seal("e1", "img/1.jpg", "digest")
        >>> tokens.open("e1", name) == ("img/1.jpg", mark("digest")), tokens.open("e2", name)
        (True, None)
        """
        text = mark(content) + image_id.encode()
        text += b"\x80" + bytes(-(len(text) + 1) % BLOCK)
        return base64.urlsafe_b64encode(self._cipher.encrypt(text, [_associated(viewer)])).decode().rstrip("=")

    def open(self, viewer: str, name: str) -> tuple[str, bytes] | None:
        """Return the image id and the mark of its content, or None unless the name was made here for this viewer."""
        try:
            data = base64.b64decode(name + "=" * (-len(name) % 4), altchars=b"-_", validate=True)
            text = self._cipher.decrypt(data, [_associated(viewer)])
        except (binascii.Error, ValueError, InvalidTag):
            return None
        return text[MARK:].rstrip(b"\0")[:-1].decode(), text[:MARK]


def mark(content: str) -> bytes:
    """Return a few bytes that identify the content."""
    return sha256(content.encode()).digest()[:MARK]


def _associated(viewer: str) -> bytes:
    return b"viewer:" + viewer.encode(errors="surrogatepass")
