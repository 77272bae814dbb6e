"""Settings: frozen values, each knowing where it came from.

Later layers win: defaults, the TOML file, environment variables (RAGCHAT_RETRIEVAL_THRESHOLD=0.5), flags.
`OLLAMA_HOST` is read as Ollama's own tools read it, below `RAGCHAT_OLLAMA_HOST`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Precision = Literal["fp32", "int8"]


@dataclass(frozen=True, slots=True)
class NotesSettings:
    """Which files are notes."""

    folder: str = ""
    """The notes folder when none is named; empty means the current one."""
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore, on top of .gitignore and .ragchatignore."""
    max_file_mb: float = 20.0
    """A larger file is a failed document."""
    confirm_files: int = 20_000
    """More files than this, and ragchat asks before it indexes."""
    confirm_mb: float = 500.0
    """More megabytes of notes than this, and ragchat asks before it indexes."""
    reader_seconds: float = 60.0
    """A PDF page or an office file that takes longer to read is a failed document."""
    reader_memory_mb: int = 1024
    """Memory for the process that reads such files."""
    ocr_languages: str = "eng"
    """Languages of scanned pages, as `tesseract --list-langs` names them: `eng+deu`. Empty: read none."""
    ocr_confidence: int = 60
    """Percent; a scanned page that is read with less is failed, not guessed."""


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """How a document is cut. A change makes the index stale."""

    strategy: Literal["boundaries", "blind", "sections"] = "boundaries"
    """At sections, blocks and sentence ends; blindly at the size; or whole sections."""
    size: int = 512
    """Target length of a passage in characters."""
    overlap: int = 0
    """Characters of the passage before that are embedded too."""
    header: bool = True
    """Embed `[Title > Heading]` before the passage."""
    code: bool = True
    """Keep code blocks."""
    context: str = ""
    """A model of the Ollama server that writes one sentence of context before each passage; empty: none.
    It costs a question to the model for every passage (docs/retrieval.md)."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which model embeds. A change makes the index stale."""

    model: str = "all-MiniLM-L6-v2"
    """This one, `multilingual-e5-small`, a path, a sentence-transformers name, or `ollama:NAME`."""
    precision: Precision = "fp32"
    """Of a built-in model: int8 embeds in half the time or less, and shifts distances a little."""
    question_prompt: str = ""
    """What the model expects before a question, as in `query: `; empty for the built-in one."""
    passage_prompt: str = ""
    """What the model expects before a passage."""
    token_vectors: bool = True
    """Keep the vectors of every token: better order and better refusals, for about 12 KB a passage."""
    threads: int = 0
    """Threads while indexing; 0 means all cores, and one fewer (at least one) while the screen is open."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How passages are found and judged."""

    threshold: float | Literal["auto"] = "auto"
    """The largest cosine distance that counts as evidence, or auto."""
    sources: int = 4
    """At most so many passages are sent."""
    candidates: int = 40
    """So many passages of each search are considered."""
    neighbours: bool = True
    """Send the sentences before and after a passage with it, for the model alone; never quoted."""
    rerank: Literal["late", "off"] = "late"
    """Order the best by the token vectors of the index (late), or leave them as the searches have them."""
    cross_encoder: str = ""
    """A cross-encoder by path or name that orders the best instead; slow: it reads 25 passages a question."""


@dataclass(frozen=True, slots=True)
class OllamaSettings:
    """The model server."""

    host: str = "http://127.0.0.1:11434"
    """Where Ollama listens. Notes are sent there: another machine sees them."""
    model: str = ""
    """Empty means: the one remembered for the folder, else one that is installed."""
    temperature: float = 0.0
    """0 answers the same question the same way; more varies it."""
    seed: int = 0
    """Where the model's chance begins."""
    answer_tokens: int = 1024
    """Tokens reserved for an answer."""
    context_tokens: int = 8192
    """Tokens of the window, as far as the model allows."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where the index lies."""

    backend: str = ""
    """Empty: a file on this machine. `postgresql://user@host/database`: a library shared with others."""
    library: str = "notes"
    """The name of the shared library in its database."""
    audiences: tuple[str, ...] = ()
    """Who may see which folder of a shared library: `board/=board` for the database role board; the longest
    prefix counts. What none of them names is for everybody who may read the library."""


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """How it looks."""

    theme: str = "ragchat-dark"
    """The colours: a name from themes/ or from your own themes folder."""
    mouse: bool = True
    """Take clicks and the wheel; without it the terminal itself marks and copies text."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, and for every one that is no default where it came from.

    origins: "retrieval.threshold" -> "RAGCHAT_RETRIEVAL_THRESHOLD", a file's path, or "flag".
    keys: what the file says under [keys], "viewer.find_next" -> "n, f3"; the screen checks it.
    """

    notes: NotesSettings = field(default_factory=NotesSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    ollama: OllamaSettings = field(default_factory=OllamaSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    origins: dict[str, str] = field(default_factory=dict)
    keys: dict[str, object] = field(default_factory=dict)
