"""LaTeX: the file's own text from \\begin{document} on, sections by its commands, markup silent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragchat.documents.document import Document, FailedDocument, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Piece
from ragchat.documents.outlined import Outlined, texts_of

EXTRACTOR = "latex/1"

_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_INNER = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
_HEADING = re.compile(
    rf"\s*\\(?P<kind>{'|'.join(_LEVELS)})\*?(?:\[[^\]]*\])?\{{(?P<words>{_INNER})\}}\s*(?:\\label\{{[^{{}}]*\}})?\s*(?:%.*)?"
)
_TITLE = re.compile(rf"\\title(?:\[[^\]]*\])?\{{({_INNER})\}}")
_BEGIN = re.compile(
    r"\s*\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|alltt|tabular\*?|longtable|tabularx)\}"
)
_COMMENT = re.compile(r"\s*%")
_SILENT = re.compile(
    r"(?<!\\)%[^\r\n]*"
    r"|\\(?:begin|end|label|ref|eqref|pageref|autoref|cref|cite\w*|includegraphics|usepackage|bibliography\w*|input"
    r"|include|vspace|hspace|setlength|pagestyle|thispagestyle)\*?(?:\[[^\[\]\r\n]*\])*(?:\{[^{}\r\n]*\})*"
    r"|\\(?:textbf|textit|texttt|textsc|textsf|emph|underline|footnote|item|caption|title|author|date|href|url|mbox"
    r"|centering|noindent|hline|toprule|midrule|bottomrule|maketitle|tableofcontents|newpage|clearpage|par|small"
    r"|large|Large|footnotesize|bfseries|itshape)\b\*?"
    r"|(?<!\\)[{}]|~"
)


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """A .tex file as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    lines = Lines(text)
    texts = texts_of(text, lines)
    found = Outlined()
    start = next(
        (number + 1 for number, line in enumerate(texts) if line.lstrip().startswith("\\begin{document}")), 0
    )
    if start:
        found.excluded.append(Span(0, lines.start(start)))
    if title := _TITLE.search(text):
        found.title = _words(title.group(1))
    at = start
    while at < len(texts):
        at = _step(found, texts, at) if texts[at].strip() else at + 1
    found.silent += [Span(*match.span()) for match in _SILENT.finditer(text, lines.start(start))]
    return found.document(decoded, lines, name=name, digest=digest, extractor=EXTRACTOR)


def _step(found: Outlined, lines: Sequence[str], at: int) -> int:
    """Take what begins at a line; return where it ends."""
    line = lines[at]
    if heading := _HEADING.fullmatch(line):
        level = _LEVELS.index(heading["kind"]) + 1
        piece = Piece("heading", at, at + 1, level, _words(heading["words"]))
    elif begin := _BEGIN.match(line):
        closing = f"\\end{{{begin.group(1)}}}"
        end = next((number + 1 for number in range(at, len(lines)) if closing in lines[number]), at + 1)
        is_table = begin.group(1).startswith(("tab", "longtable"))
        first_row = next((number for number in range(at + 1, end - 1) if "&" in lines[number]), None)
        piece = Piece("table" if is_table else "code", at, end, names=first_row if is_table else None)
    elif _COMMENT.match(line):
        piece = Piece("paragraph", at, at + 1, silent=True)
    else:
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _begins(lines[end]):
            end += 1
        piece = Piece("list_item" if line.lstrip().startswith("\\item") else "paragraph", at, end)
    found.pieces.append(piece)
    return piece.end


def _begins(line: str) -> bool:
    return (
        _HEADING.fullmatch(line) is not None
        or _BEGIN.match(line) is not None
        or line.lstrip().startswith(("\\item", "%"))
    )


def _words(source: str) -> str:
    """What a heading says, its markup gone."""
    return re.sub(r"\\\w+\*?|[{}$~]", " ", _SILENT.sub(" ", source))
