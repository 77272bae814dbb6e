"""One file a subject: each has `measure(plan) -> list[Row]`."""
