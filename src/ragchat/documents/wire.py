"""Documents as JSON, on their way from the process that read them. No pickle: it runs what it brings."""

from __future__ import annotations

import json
from typing import Any

from ragchat.documents.document import Block, Document, FailedDocument, Locator, Section, Span


def packed(result: Document | FailedDocument) -> bytes:
    """A result as bytes. Its name and digest are not sent: who asked knows them."""
    if isinstance(result, FailedDocument):
        return _bytes({"reason": result.reason, "hint": result.hint, "extractor": result.extractor})
    return _bytes(
        {
            "title": result.title,
            "text": result.text,
            "encoding": result.encoding,
            "sections": [[part.path, part.start, part.end, part.body_start] for part in result.sections],
            "blocks": [
                [part.kind, part.start, part.end, _pair(part.header), _pair(part.caption)]
                for part in result.blocks
            ],
            "silent": [[span.start, span.end] for span in result.silent],
            "excluded": [[span.start, span.end] for span in result.excluded],
            "locators": [[part.kind, part.value, part.start, part.end] for part in result.locators],
            "gaps": result.gaps,
            "tags": result.tags,
            "dated": result.dated,
            "extractor": result.extractor,
        }
    )


def unpacked(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """The result that was packed. Raises ValueError, TypeError or KeyError for anything else."""
    fields: dict[str, Any] = json.loads(data)
    if "reason" in fields:
        return FailedDocument(name, fields["reason"], fields["hint"], digest, fields["extractor"])
    return Document(
        name=name,
        title=fields["title"],
        text=fields["text"],
        encoding=fields["encoding"],
        sections=tuple(Section(tuple(path), *places) for path, *places in fields["sections"]),
        blocks=tuple(
            Block(kind, start, end, _span(header), _span(caption))
            for kind, start, end, header, caption in fields["blocks"]
        ),
        silent=tuple(Span(*places) for places in fields["silent"]),
        excluded=tuple(Span(*places) for places in fields["excluded"]),
        locators=tuple(Locator(*parts) for parts in fields["locators"]),
        extractor=fields["extractor"],
        digest=digest,
        stored=True,
        gaps=tuple(fields["gaps"]),
        tags=tuple(fields["tags"]),
        dated=fields["dated"],
    )


def _bytes(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def _pair(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _span(pair: list[int] | None) -> Span | None:
    return None if pair is None else Span(*pair)
