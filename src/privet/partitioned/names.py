"""What a party may be called: its name stands in files, in their names and in reports."""

import unicodedata

from privet.errors import ParameterError

MAX_NAME = 64
# File systems take names of 255 bytes, ending and all; a letter may have four.
_MAX_BYTES = 200


def checked_name(name: object) -> str:
    """Return ``name`` where it can stand in a file's name on any system, spelled in one way."""
    if isinstance(name, str):
        # Spellings that look alike are one name.
        name = unicodedata.normalize("NFC", name)
        plain = 0 < len(name) <= MAX_NAME and name[0].isalnum() and all(c.isalnum() or c in "-_" for c in name)
        if plain and len(name.encode()) <= _MAX_BYTES:
            return name
    raise ParameterError(
        f"a party's name has at most {MAX_NAME} letters, digits, - and _ ({_MAX_BYTES} bytes), beginning with a letter "
        "or digit; choose another"
    )
