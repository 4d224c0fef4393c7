"""How often each way to a softmax, or to attention, walks over a row of scores: counted while it runs."""

from collections.abc import Callable, Iterator

import numpy as np

from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.drawn import EXACT, Doubles, softmax_by_definition
from flashscope.profiles.claims.model import RUN, Experiment

BLOCK = 16


class ScoreRow:
    """A row of scores in slow memory; it counts how often it is walked over."""

    def __init__(self, scores: Doubles) -> None:
        self._scores = scores
        self.walks = 0

    def blocks(self) -> Iterator[Doubles]:
        """The row's blocks, once from end to end."""
        self.walks += 1
        yield from np.split(self._scores, len(self._scores) // BLOCK)


def naive(row: ScoreRow) -> Doubles:
    """Exp over the sum of exp, without a maximum."""
    total = sum(np.exp(block).sum() for block in row.blocks())
    return np.concatenate([np.exp(block) / total for block in row.blocks()])


def stable(row: ScoreRow) -> Doubles:
    """Softmax with the maximum subtracted."""
    m = max(block.max() for block in row.blocks())
    total = sum(np.exp(block - m).sum() for block in row.blocks())
    return np.concatenate([np.exp(block - m) / total for block in row.blocks()])


def online(row: ScoreRow) -> Doubles:
    """Maximum and sum in one walk, the weights in another."""
    m, total = -np.inf, 0.0
    for block in row.blocks():
        raised = max(m, block.max())
        total = total * np.exp(m - raised) + np.exp(block - raised).sum()
        m = raised
    return np.concatenate([np.exp(block - m) / total for block in row.blocks()])


def fused_passes(row: ScoreRow) -> Doubles:
    """Attention: the row's weights are never wanted, only their product with V, here the identity."""
    m, total, output = -np.inf, 0.0, np.zeros(0)
    for block in row.blocks():
        raised = max(m, block.max())
        factor, e = np.exp(m - raised), np.exp(block - raised)
        total, output, m = total * factor + e.sum(), np.concatenate([output * factor, e]), raised
    return output / total


def passes(way: Callable[[ScoreRow], Doubles], stated: int, words: str) -> Experiment:
    """Whether it takes so many walks, and is right."""

    def test() -> tuple[bool, str]:
        scores = np.random.default_rng(3).standard_normal(256)
        row = ScoreRow(scores)
        off = float(np.abs(way(row) - softmax_by_definition(scores)).max())
        told = f"{row.walks} walks over the row, exact to {off:.0e}; stated: {stated}"
        return row.walks == stated and off < EXACT, told

    return confirmed(f"Count how often {words} walks over a row.", test, RUN)
