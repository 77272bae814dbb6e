"""A question becomes a trace: candidates, ranks, distances, verdicts."""
