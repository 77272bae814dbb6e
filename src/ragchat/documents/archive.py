"""Zip archives that documents are made of, looked into without unpacking: nothing is ever written to disk."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from urllib.parse import unquote

from ragchat.documents.reading import PASSWORD, UnreadableError

_MOST_BYTES = 400_000_000
"""Of all parts unpacked; a file of ten kilobytes that becomes so much is a bomb."""
_MOST_PARTS = 50_000
_OFFICE_1997 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Archive:
    """The parts of one zip archive by their names, which lead nowhere outside it."""

    def __init__(self, data: bytes, what: str) -> None:
        """what: the kind of document it should be, "a Word document". Raises UnreadableError."""
        if data.startswith(_OFFICE_1997):
            if "EncryptedPackage".encode("utf-16-le") in data:
                raise UnreadableError("it is encrypted, and opens only with its password", PASSWORD)
            raise UnreadableError("it is an office document of before 2007", "save it in today's format")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, struct.error) as error:
            why = "it is cut off or damaged" if data.startswith(b"PK") else f"it is not {what}"
            raise UnreadableError(why) from error
        parts = self._zip.infolist()
        size = sum(part.file_size for part in parts)
        if size > _MOST_BYTES or len(parts) > _MOST_PARTS:
            much = f"{len(parts):,} parts of {size / 1e6:,.0f} MB, more than {_MOST_BYTES / 1e6:,.0f} MB"
            raise UnreadableError(f"it unpacks to {much}", "list it in .ragchatignore")
        self.names = frozenset(part.filename for part in parts)

    def read(self, name: str) -> bytes:
        """The content of a part. Raises UnreadableError."""
        try:
            return self._zip.read(name)
        except KeyError as error:
            raise UnreadableError(f"it lacks its part {name}") from error
        except RuntimeError as error:  # what zipfile raises for a password
            raise UnreadableError("it is encrypted, and opens only with its password", PASSWORD) from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise UnreadableError(f"its part {name} is damaged") from error


def beside(part: str, reference: str) -> str:
    """The part that a reference in another part means: "text/1.xhtml" for "1.xhtml#a" in "text/toc.xml"."""
    path = unquote(reference.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), path))
