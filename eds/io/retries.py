"""Errors of remote storage: which are transient and retried, and the message of the others.

No message of a server or a library is repeated, because it may hold a signature or an address with a secret; only
the code of the error is.
"""

import errno
import os
import random
import time
from collections.abc import Callable
from typing import TypeVar

from eds.errors import InputError
from eds.io.addresses import CREDENTIALS

Result = TypeVar("Result")
ATTEMPTS = 8  # unless AWS_MAX_ATTEMPTS says otherwise; some 25 seconds of patience
UNREACHED = 4  # attempts where no connection ever came about: more patience helps rarely
FIRST_WAIT, LONGEST_WAIT = 0.2, 20.0  # seconds
BUSY = (
    "SlowDown",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
    "TooManyRequests",
    "RequestLimitExceeded",
)
AGAIN = "It was cut or changed: put it there again."
NOT_ACCEPTED = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired")


class StorageError(InputError):
    """Remote storage cannot be used, or does not hold what it should."""


class AbsentError(StorageError):
    """There is no such file or object (its bucket is there)."""


class TruncatedError(StorageError):
    """A file or object is shorter than it should be, or is not the one that was written."""


def patiently(act: Callable[[], Result], address: str) -> Result:
    """The result of `act`; repeated after ever longer waits while the error is transient.

    The waits are partly random, so that a hundred workers that were refused together do not return together.
    """
    begun, attempt = time.monotonic(), 0
    allowed = attempts_allowed()
    while True:
        attempt += 1
        try:
            return act()
        except StorageError:
            raise
        except Exception as error:
            transient, refusal = _classify(error, address)
            if refusal is None:
                raise  # no error of storage: a bug of ours is raised as it is
            if not transient:
                raise refusal from error
            if attempt >= (min(allowed, UNREACHED) if _unreached(error) else allowed):
                tried = f"{attempt} attempts in {time.monotonic() - begun:.0f} s"
                raise StorageError(f"{refusal.what} ({tried})", where=refusal.where, hint=refusal.hint) from error
        wait = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
        time.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - not for secrecy


def attempts_allowed() -> int:
    """How often a request is made at most: AWS_MAX_ATTEMPTS, as the tools of AWS read it, or our own number."""
    given = os.environ.get("AWS_MAX_ATTEMPTS", "")
    if given and not (given.isdigit() and int(given) > 0):
        raise InputError(f"is {given!r}", where="AWS_MAX_ATTEMPTS", hint="Give a whole number from 1 up.")
    return int(given) if given else ATTEMPTS


def _classify(error: Exception, address: str) -> tuple[bool, StorageError | None]:
    """Whether the error is transient, and its message; None if it is not an error of storage."""
    code, status = _code(error)
    name = type(error).__name__
    if code in BUSY or status in (429, 503) or getattr(error, "errno", None) == errno.EBUSY:
        return True, StorageError(
            f"the storage refuses: too many requests{_named(code)}",
            where=address,
            hint="Try again later, or with fewer workers; AWS_MAX_ATTEMPTS allows more attempts.",
        )
    if code in NOT_ACCEPTED:
        return False, StorageError(f"the credentials are not accepted ({code})", where=address, hint=CREDENTIALS)
    if name in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError"):
        return False, StorageError("there are no credentials", where=address, hint=CREDENTIALS)
    if isinstance(error, PermissionError) or status in (401, 403):
        return False, StorageError(
            f"permission denied{_named(code)}",
            where=address,
            hint="Ask its owner for s3:ListBucket, s3:GetObject and, to write, s3:PutObject; or use other credentials.",
        )
    if isinstance(error, ValueError) and str(error).startswith("Invalid endpoint"):  # botocore's only word for it
        return False, StorageError(
            "the address of the storage's server is not whole",
            where="AWS_ENDPOINT_URL",
            hint="Write it with http:// or https://, as in http://localhost:9000; empty, it is Amazon's own.",
        )
    if code == "NoSuchBucket":
        return False, no_bucket(address)
    if isinstance(error, FileNotFoundError) or status == 404:
        return False, AbsentError("there is no such object", where=address, hint="Look at its name.")
    if code == "InvalidRange" or status == 416:
        return False, TruncatedError(
            "the object is truncated: it ends before what was asked", where=address, hint=AGAIN
        )
    if code in ("PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed") or status in (301, 307):
        return False, StorageError(
            "the bucket is in another region", where=address, hint="Name its region: AWS_DEFAULT_REGION."
        )
    if _unreached(error):
        return True, StorageError(
            "the storage cannot be reached",
            where=address,
            hint="Look at the network and at AWS_ENDPOINT_URL, which is empty for Amazon's own.",
        )
    if status >= 500 or _broken(error):
        return True, StorageError(
            f"the connection to the storage broke{_named(code)}", where=address, hint="Try again; look at the network."
        )
    if code or status:
        return False, StorageError(
            f"the storage refuses ({code or status})", where=address, hint="Look at the address."
        )
    return False, None


def no_bucket(address: str) -> StorageError:
    """The error for a missing bucket."""
    return StorageError("there is no such bucket", where=address, hint="Look at its name and at AWS_ENDPOINT_URL.")


def _named(code: str) -> str:
    return f" ({code})" if code and not code.isdigit() else ""


def _code(error: BaseException | None) -> tuple[str, int]:
    """The code and the HTTP status that a server gave, wherever in the chain of errors it stands."""
    for _ in range(5):
        response = getattr(error, "response", None)
        if isinstance(response, dict) and "Error" in response:
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return str(response["Error"].get("Code", "")), int(status)
        if error is None:
            break
        error = error.__cause__ or error.__context__
    return "", 0


def _unreached(error: Exception) -> bool:
    """No connection was made. Classes are compared by name, so that the library need not be installed."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & {"EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError", "SSLError"})


def _broken(error: Exception) -> bool:
    """The connection was made, and broke."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    broken = {"HTTPClientError", "ClientPayloadError", "IncompleteRead", "ResponseParserError", "IncompleteReadError"}
    return isinstance(error, (ConnectionError, TimeoutError)) or bool(kinds & broken)
