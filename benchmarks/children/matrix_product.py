"""The processor's own speed in a matrix product of the model's shapes, in fp32 with every core."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.children.serve import serve

_ROWS, _INNER, _COLUMNS = 1024, 384, 1536
FLOPS = 2 * _ROWS * _INNER * _COLUMNS


def main() -> None:
    """Serve until the parent has enough."""
    rng = np.random.default_rng(1)
    left = rng.standard_normal((_ROWS, _INNER), dtype=np.float32)
    right = rng.standard_normal((_INNER, _COLUMNS), dtype=np.float32)

    def multiply(request: dict[str, Any]) -> None:
        for _ in range(request["times"]):
            left @ right

    serve({"multiply": multiply})


if __name__ == "__main__":
    main()
