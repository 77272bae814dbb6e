"""What ragchat takes in time and memory, beside its peers, in one run: `python -m benchmarks`.

The machine swings by half between two runs, so nothing here is a number alone: what is compared takes turns,
and the ratios are medians of the rounds' own ratios. docs/benchmarks.md says what came out.
"""
