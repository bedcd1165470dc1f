"""What is typed at `eds images`, read: columns, queries, bits."""

from typing import Any

from eds.errors import InputError


def bits_of(text: str) -> int | None:
    """How many bits two pictures' hashes may differ by; None: off."""
    if text != "off" and not text.isdigit():
        raise InputError(f"{text!r} is no number of bits", where="option --near", do="Give 0 to 16, or off.")
    return None if text == "off" else int(text)


def queries_of(text: str | None) -> Any:
    """all, a number of images, a share; None where nothing was typed."""
    if text is None or text == "all":
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no number", where="option --queries", do="Give all, 200 or 0.1.") from error


def mapping_of(text: str) -> dict[str, str]:
    """Column of table images -> column of the file."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    wrong = ["".join(part) for part in pairs if not part[0].strip() or not part[2].strip()]
    if wrong:
        raise InputError(f"{wrong[0]!r} maps nothing", where="option --map", do="Write ours=theirs, e.g. path=file.")
    names = [ours.strip() for ours, _, _ in pairs]
    if again := [ours for ours in dict.fromkeys(names) if names.count(ours) > 1]:
        raise InputError(f"{', '.join(again)} is mapped twice", where="option --map", do="Give each of ours once.")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
