"""Small PDF files made for tests, with known words at known places."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """One line of text. x, y: of its beginning, in points from the lower left corner; angle in degrees."""

    x: float
    y: float
    text: str
    size: float = 11.0
    bold: bool = False
    angle: float = 0.0

    def operators(self) -> str:
        turned = math.radians(self.angle)
        cos, sin = math.cos(turned), math.sin(turned)
        escaped = self.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        return (
            f"BT /{'B' if self.bold else 'F'} {self.size} Tf {cos:.4f} {sin:.4f} {-sin:.4f} {cos:.4f} "
            f"{self.x} {self.y} Tm ({escaped}) Tj ET\n"
        )


@dataclass(frozen=True)
class Picture:
    """A grey picture that fills the page: rows of bytes from the top, 0 is black."""

    width: int
    height: int
    pixels: bytes


Page = Sequence[Words | Picture]


def column(
    x: float, top: float, lines: Iterable[str], *, size: float = 11.0, leading: float = 1.2
) -> list[Words]:
    """Lines below each other, the first at `top`."""
    return [Words(x, top - number * size * leading, line, size) for number, line in enumerate(lines)]


def pdf(
    *pages: Page,
    width: int = 595,
    height: int = 842,
    rotate: int = 0,
    title: str = "",
    password: str | None = None,
) -> bytes:
    """A whole file of these pages. password: that opens it; encrypted also with an empty one."""
    objects: list[bytes] = [b"", b""]
    key = b"" if password is None else _key(password)

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(entries: str, data: bytes) -> int:
        packed = zlib.compress(data)
        if key:
            number = len(objects) + 1
            packed = _rc4(hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], packed)
        head = f"<< {entries} /Length {len(packed)} /Filter /FlateDecode >>\nstream\n"
        return add(head.encode() + packed + b"\nendstream")

    fonts = [
        add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode())
        for name in ("Helvetica", "Helvetica-Bold")
    ]
    kids = []
    for page in pages:
        images, content = "", ""
        for number, item in enumerate(page):
            if isinstance(item, Picture):
                image = stream(_IMAGE.format(item.width, item.height), item.pixels)
                images += f"/I{number} {image} 0 R "
                content += f"q {width} 0 0 {height} 0 0 cm /I{number} Do Q\n"
            else:
                content += item.operators()
        drawn = stream("", content.encode("cp1252"))
        kids.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Rotate {rotate} "
                f"/Resources << /Font << /F {fonts[0]} 0 R /B {fonts[1]} 0 R >> /XObject << {images}>> >> "
                f"/Contents {drawn} 0 R >>".encode()
            )
        )
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    references = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{references}] /Count {len(kids)} >>".encode()
    about = f" /Info {add(f'<< /Title ({title}) >>'.encode())} 0 R" if title else ""
    if password is not None:
        about += f" /Encrypt {add(_encryption(password))} 0 R /ID [<{_ID.hex()}> <{_ID.hex()}>]"
    return assembled(objects, about)


_IMAGE = "/Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceGray /BitsPerComponent 8"
_ID = bytes(range(16))
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_RIGHTS = -4


def _padded(password: str) -> bytes:
    return (password.encode("cp1252") + _PADDING)[:32]


def _owner(password: str) -> bytes:
    return _rc4(hashlib.md5(_padded("owner")).digest()[:5], _padded(password))


def _key(password: str) -> bytes:
    """PDF 1.7, 7.6.3.3: algorithm 2 for 40 bits."""
    rights = _RIGHTS.to_bytes(4, "little", signed=True)
    return hashlib.md5(_padded(password) + _owner(password) + rights + _ID).digest()[:5]


def _encryption(password: str) -> bytes:
    user = _rc4(_key(password), _PADDING)
    return (
        f"<< /Filter /Standard /V 1 /R 2 /O <{_owner(password).hex()}> /U <{user.hex()}> /P {_RIGHTS} >>"
    ).encode()


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def assembled(objects: Sequence[bytes], about: str = "") -> bytes:
    """A file of these objects, numbered from 1; the first is the catalogue."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{about} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
