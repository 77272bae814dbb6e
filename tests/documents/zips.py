"""Office files and books as zip archives, made for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def word_paragraph(text: str, style: str = "") -> str:
    about = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{about}<w:r><w:t>{text}</w:t></w:r></w:p>"


def word_table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{word_paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(*body: str, prolog: str = "", **more: str | bytes) -> bytes:
    """A Word document. more: further parts."""
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    types = "http://schemas.openxmlformats.org/package/2006"
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>'
        for n in range(1, 4)
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{types}/content-types"><Default Extension="xml" '
            'ContentType="application/xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{types}/relationships"><Relationship Id="r1" '
            f'Type="{relation}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{types}/relationships">'
            f'<Relationship Id="r1" Type="{relation}/styles" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
            "word/document.xml": f"{prolog}<w:document {_W}><w:body>{''.join(body)}</w:body></w:document>",
            **more,
        }
    )


def odf(body: str, *, prolog: str = "", manifest: str = "<manifest/>") -> bytes:
    """An OpenDocument file; body: what stands inside of office:body."""
    return zipped(
        {
            "META-INF/manifest.xml": manifest,
            "content.xml": f"{prolog}<office:document-content {_ODF}><office:body>{body}</office:body>"
            "</office:document-content>",
        }
    )


def epub(chapters: Mapping[str, str], *, title: str = "A book", **more: str | bytes) -> bytes:
    """A book of chapters, name -> HTML. more: further parts."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    return zipped(
        {
            "META-INF/container.xml": "<container><rootfile full-path='OPS/book.opf'/></container>",
            "OPS/book.opf": "<package xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata>"
            f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"OPS/{name}": content for name, content in chapters.items() if not name.startswith("..")},
            **more,
        }
    )
