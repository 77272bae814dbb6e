"""Who may see what: the server enforces it, for documents, for words, and for every count of them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from ragchat.errors import SetupError, StorageFailed, UsageError
from ragchat.index.postgres.audiences import Audiences
from ragchat.index.postgres.connection import described, is_local
from ragchat.index.postgres.store import PostgresIndex, open_library
from ragchat.index.protocol import Coverage, Scope
from tests.index.building import EMBEDDER, STAMP, document, embed, put, source

ANYWHERE = Scope()


@pytest.fixture
def roles(database_url: str) -> Iterator[dict[str, str]]:
    """URLs of alice (in the board) and bob (in nothing)."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for statement in (
            "CREATE ROLE board",
            "CREATE ROLE alice LOGIN IN ROLE board",
            "CREATE ROLE bob LOGIN",
        ):
            connection.execute(statement)
    yield {role: database_url.replace("//postgres:@", f"//{role}@") for role in ("alice", "bob")}
    with psycopg.connect(database_url, autocommit=True) as connection:
        for role in ("alice", "bob", "board"):
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


@pytest.fixture
def shared(database_url: str, roles: dict[str, str]) -> Iterator[dict[str, PostgresIndex]]:
    everybody, board = (
        open_library(database_url, "notes"),
        open_library(database_url, "notes", ["s=board"]),
    )
    everybody.begin(STAMP)
    put(everybody, "menu.md", "soup on Monday", "fish on Friday")
    put(board, "salaries.md", "the salary of Carol", "soup and salary", "a third salary")
    for role in roles:
        everybody.share(role)
    opened = {role: open_library(url, "notes") for role, url in roles.items()}
    yield {**opened, "everybody": everybody, "board": board}
    for index in (*opened.values(), everybody, board):
        index.close()


def test_a_reader_finds_only_what_that_reader_may_see(shared: dict[str, PostgresIndex]) -> None:
    alice, bob = shared["alice"].snapshot(), shared["bob"].snapshot()
    assert (alice.chunk_count, bob.chunk_count) == (5, 2)
    question = EMBEDDER.embed_question("the salary of Carol")
    assert {c.document for c in bob.chunks([h.chunk_id for h in bob.dense(question, 9, ANYWHERE)])} == {
        "menu.md"
    }
    assert len(alice.dense(question, 9, ANYWHERE)) == 5
    assert bob.lexical(["salary"], 9, ANYWHERE) == []
    assert bob.containing("salary", ANYWHERE, 9) == []
    hidden = [hit.chunk_id for hit in alice.lexical(["salary"], 9, ANYWHERE)]
    assert len(hidden) == 3
    for forbidden in (bob.chunks, bob.vectors):
        with pytest.raises(KeyError):
            forbidden(hidden[:1])
    assert shared["bob"].document_text("salaries.md") is None
    assert shared["bob"].sources().keys() == {"menu.md"}
    assert shared["bob"].coverage() == Coverage(1, 0, 0)


def test_a_reader_s_statistics_are_those_of_the_visible_documents(
    shared: dict[str, PostgresIndex], database_url: str
) -> None:
    alice, bob = shared["alice"].snapshot(), shared["bob"].snapshot()
    assert (alice.document_frequency("soup"), bob.document_frequency("soup")) == (2, 1)
    assert (alice.document_frequency("salary"), bob.document_frequency("salary")) == (3, 0)
    alone = open_library(database_url, "another")
    alone.begin(STAMP)
    put(alone, "menu.md", "soup on Monday", "fish on Friday")
    scores = [hit.value for hit in alone.snapshot().lexical(["soup", "on"], 9, ANYWHERE)]
    assert [hit.value for hit in bob.lexical(["soup", "on"], 9, ANYWHERE)] == pytest.approx(scores, abs=1e-9)
    alone.close()


def test_what_was_calibrated_on_hidden_documents_is_not_told(shared: dict[str, PostgresIndex]) -> None:
    shared["alice"].write_value("threshold", "0.5")
    assert shared["bob"].read_value("threshold") is None
    shared["bob"].write_value("threshold", "0.6")
    assert (shared["alice"].read_value("threshold"), shared["bob"].read_value("threshold")) == ("0.5", "0.6")


def test_a_reader_cannot_write(shared: dict[str, PostgresIndex]) -> None:
    bob = shared["bob"]
    for attempt in (
        lambda: put(bob, "mine.md", "words"),
        lambda: bob.remove("menu.md"),
        lambda: bob.share("bob"),
    ):
        with pytest.raises(StorageFailed) as refused:
            attempt()
        assert "permission denied" in refused.value.message
    assert bob.sources().keys() == {"menu.md"}


def test_a_failed_document_of_the_board_is_the_board_s(shared: dict[str, PostgresIndex]) -> None:
    from ragchat.documents.document import FailedDocument

    shared["board"].fail(
        FailedDocument("secret.pdf", "no text", "scan it"), source("secret.pdf", state="failed")
    )
    assert [failure.name for failure in shared["alice"].failures()] == ["secret.pdf"]
    assert list(shared["bob"].failures()) == []


def test_a_role_that_is_dropped_shuts_nobody_out(shared: dict[str, PostgresIndex], database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DROP ROLE board")
        try:
            assert shared["alice"].snapshot().chunk_count == 2
        finally:
            connection.execute("CREATE ROLE board")


def test_a_new_stamp_is_readable_for_the_same_roles(shared: dict[str, PostgresIndex]) -> None:
    from ragchat.index.protocol import IndexStamp

    shared["everybody"].begin(IndexStamp(EMBEDDER.stamp, "test/2"))
    whole = document("menu.md", "soup again")
    from tests.index.building import chunks_of

    chunks = chunks_of(whole, (0, 10))
    shared["everybody"].replace(whole, source("menu.md", whole.text), chunks, embed(chunks))
    assert shared["bob"].snapshot().chunk_count == 2
    shared["everybody"].finish()
    assert shared["bob"].snapshot().chunk_count == 1


@pytest.mark.parametrize(
    ("url", "local", "shown"),
    [
        ("postgresql://ann@/notes", True, "postgresql://ann@local/notes"),
        ("postgresql://127.0.0.1:5433/notes", True, "postgresql://127.0.0.1:5433/notes"),
        ("postgresql://db.example.org/notes?sslmode=verify-full", False, "postgresql://db.example.org/notes"),
        ("postgresql://?service=team", False, "postgresql service team"),
        ("postgresql://localhost,db.example.org/notes", False, "postgresql://localhost,db.example.org/notes"),
    ],
)
def test_a_database_is_named_without_secrets(url: str, local: bool, shown: str) -> None:
    assert (is_local(url), described(url)) == (local, shown)


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(UsageError, match="no PostgreSQL address"):
        open_library("postgresql://[half", "notes")


def test_a_document_that_is_for_others_now_is_put_in_place_again(
    shared: dict[str, PostgresIndex], database_url: str
) -> None:
    stricter = open_library(database_url, "notes", ["s=board", "menu=board"])
    states = {name: source.state for name, source in stricter.sources().items()}
    assert states == {"menu.md": "stale", "salaries.md": "indexed"}
    put(stricter, "menu.md", "soup on Monday", "fish on Friday")
    assert {source.state for source in stricter.sources().values()} == {"indexed"}
    assert shared["bob"].snapshot().chunk_count == 0
    assert shared["bob"].snapshot().document_frequency("soup") == 0
    assert shared["alice"].snapshot().chunk_count == 5
    stricter.close()


@pytest.mark.parametrize(
    ("name", "role"),
    [("a.md", ""), ("board/a.md", "board"), ("board/open/a.md", ""), ("boarding.md", "")],
)
def test_the_longest_prefix_says_who_may_see(name: str, role: str) -> None:
    assert Audiences(["board/=board", "board/open/="]).role_of(name) == role


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="no rule"):
        Audiences(["board"])


def test_a_library_of_an_earlier_ragchat_is_converted_by_its_keeper(
    database_url: str, shared: dict[str, PostgresIndex], roles: dict[str, str]
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        schema = connection.execute("SELECT 'ragchat_' || active FROM ragchat.libraries").fetchone()
        assert schema is not None
        connection.execute(f"ALTER TABLE {schema[0]}.documents DROP COLUMN tags, DROP COLUMN dated")
        connection.execute(f"ALTER TABLE {schema[0]}.words DROP CONSTRAINT words_pkey")
        connection.execute(f"ALTER TABLE {schema[0]}.words ADD PRIMARY KEY (token, chunk_id)")
        connection.execute("UPDATE ragchat.version SET version = 1")
    with pytest.raises(SetupError, match="keeper") as told:
        open_library(roles["bob"], "notes")
    assert told.value.hint == "have its keeper run: ragchat index"
    keeper = open_library(database_url, "notes")
    assert {known.tags for known in keeper.sources().values()} == {()}
    keeper.close()
    reader = open_library(roles["bob"], "notes")
    assert reader.sources().keys() == {"menu.md"}
    reader.close()


def test_tables_of_a_newer_ragchat_are_left_alone(
    database_url: str, shared: dict[str, PostgresIndex]
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE ragchat.version SET version = 99")
    with pytest.raises(SetupError, match="another ragchat"):
        open_library(database_url, "notes")
