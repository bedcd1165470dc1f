"""The parameter type of options that take a path or an address."""

from pathlib import Path

import click

from eds import io


class AddressType(click.ParamType):  # type: ignore[type-arg]
    """A path, `file://` and a path, or `s3://bucket/key`, normalised; a local one may have to exist."""

    name = "path|url"

    def __init__(self, *, exists: bool = False) -> None:
        self.exists = exists

    def convert(self, value: "str | Path", param: click.Parameter | None, ctx: click.Context | None) -> io.Address:
        """The address; one with a secret in it, or of an unknown kind, is refused."""
        address = io.checked(value)
        if isinstance(address, Path) and self.exists and not address.exists():
            self.fail(f"{str(address)!r} does not exist.", param, ctx)
        return address


ADDRESS, EXISTING_ADDRESS = AddressType(), AddressType(exists=True)
