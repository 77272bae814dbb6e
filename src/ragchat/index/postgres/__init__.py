"""The second backend: one library of notes for many people, in PostgreSQL with pgvector."""
