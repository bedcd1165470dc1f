"""One S3 server for all tests of this folder; each test begins with nothing going wrong."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.object_storage import Storage


@pytest.fixture(scope="session")
def server() -> "Iterator[Storage]":
    from tests.object_storage import storage  # here, as the files of this folder that need no server run without it

    with storage() as found:
        yield found


@pytest.fixture
def shop(server: "Storage", monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> "Iterator[Storage]":
    """The server with an empty bucket named `shop`, and the variables that lead to it; three attempts, short waits."""
    for name, value in server.environment(AWS_MAX_ATTEMPTS="3").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("eds.io.retries.FIRST_WAIT", 0.01)
    client = server.client()
    client.create_bucket(Bucket="shop")
    server.well()
    yield server
    server.well()
    client.delete_bucket_policy(Bucket="shop")
    while found := client.list_objects_v2(Bucket="shop").get("Contents", []):
        client.delete_objects(Bucket="shop", Delete={"Objects": [{"Key": one["Key"]} for one in found]})
    client.delete_bucket(Bucket="shop")
