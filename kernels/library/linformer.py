"""Linformer in PyTorch: approximate attention, beside PyTorch's exact one. No kernel of the registry."""

from typing import Any

import torch
from torch.utils.benchmark import Timer

REPEATS = 5


class Linformer:
    """One head's Q, K and V in PyTorch, on the GPU where it sees one.

    Attributes:
        device: Where it runs, in words.
    """

    def __init__(self, q: Any, k: Any, v: Any) -> None:
        place = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.cuda.get_device_name() if place == "cuda" else "the CPU"
        self._q, self._k, self._v = (torch.from_numpy(x).to(place)[None, None] for x in (q, k, v))
        self._exact = self._attend(None)

    def milliseconds(self, e: Any) -> float:
        """The shortest of a few runs under the projection E (k, N); None: exact attention."""
        timer = Timer("attend(e)", globals={"attend": self._attend, "e": self._moved(e)})
        timer.timeit(1)
        return 1e3 * min(float(timer.timeit(1).median) for _ in range(REPEATS))

    def error(self, e: Any) -> float:
        """L2 norm of O's error under that projection over that of O."""
        difference = self._attend(self._moved(e)) - self._exact
        return float(difference.norm() / self._exact.norm())

    def _moved(self, e: Any) -> Any:
        return None if e is None else torch.from_numpy(e).to(self._q.device)

    def _attend(self, e: Any) -> Any:
        k, v = (self._k, self._v) if e is None else (e @ self._k, e @ self._v)
        return torch.nn.functional.scaled_dot_product_attention(self._q, k, v)
