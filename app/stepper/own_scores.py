"""Scores typed by hand: rows of numbers with a bar between tiles, as on a slide: `1, 3 | 2, 0.5`."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flashscope.app.stepper.presets import MAX_SEQLEN, SLIDE_SCORES, score_row
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import Array, LoopOrder, TraceRequest

EXAMPLE = "{}, {} | {}, {}".format(*(f"{score:g}" for score in SLIDE_SCORES))
LARGEST = 1e30  # beyond, differences and sums of float32 numbers overflow
MOST_ROWS = 32
BLOCK = 2  # scores of a tile where no bars say it
AS_BLANK = str.maketrans({"[": " ", "]": " ", "−": "-"})  # one letter for one: places stay


class ScoresError(ValueError):
    """What was typed is no scores.

    Attributes:
        at: Where that is: from this letter on, and how many letters.
    """

    def __init__(self, text: str, at: tuple[int, int]) -> None:
        super().__init__(text)
        self.at = at


@dataclass(frozen=True)
class OwnScores:
    """Scores, a row a query, and how many make a tile."""

    rows: tuple[tuple[float, ...], ...]
    block: int

    def request(self, backend: Backend = "cpu", order: LoopOrder = "flash1") -> TraceRequest:
        """A trace of exactly these scores; V is 1, 2, 3, ...

        Of several rows Q is the identity and K has the scores in its columns, with scale 1.
        """
        count, keys = len(self.rows), len(self.rows[0])
        values = tuple(map(float, range(1, keys + 1)))
        if count == 1:
            return score_row(self.rows[0], values, self.block, backend=backend, order=order)
        q = np.eye(count, dtype=np.float32)
        k = np.asarray(self.rows, dtype=np.float32).T
        v = np.asarray(values, dtype=np.float32)[:, None]
        return TraceRequest(
            problem=Problem(seqlen_q=count, seqlen_k=keys, head_dim=count, scale=1.0),
            backend=backend,
            order=order,
            block_q=min(BLOCK, count),
            block_k=self.block,
            inputs=(Array.of(q), Array.of(k), Array.of(v)),
        )


class _Row(NamedTuple):
    """One row as typed: its scores, the lengths of its tiles, and where it stands."""

    scores: tuple[float, ...]
    tiles: tuple[int, ...]
    at: tuple[int, int]


def read_scores(text: str) -> OwnScores:
    """What was typed, as scores: rows in lines or between semicolons, numbers between commas or blanks.

    Raises:
        ScoresError: What is wrong, in a sentence, and where.
    """
    typed = text.translate(AS_BLANK)
    lines = [one for one in re.finditer(r"[^;\n]+", typed) if one.group().strip()]
    if not lines:
        raise ScoresError(f"Type scores, such as {EXAMPLE}.", (0, len(text)))
    if len(lines) > MOST_ROWS:
        raise ScoresError(f"There are {len(lines)} rows; at most {MOST_ROWS} are traced.", _place(lines[-1]))
    rows = [_row(number, line) for number, line in enumerate(lines, 1)]
    first = rows[0]
    for number, row in enumerate(rows[1:], 2):
        _check_alike(number, row, first)
    return OwnScores(tuple(row.scores for row in rows), _block(first))


def _row(number: int, line: re.Match[str]) -> _Row:
    found = re.finditer(r"(?:^|(?<=\|))[^|]*", line.group())
    pieces = [_Piece(one.group(), line.start() + one.start()) for one in found]
    tiles = [[_score(number, piece) for piece in _pieces(number, tile)] for tile in pieces]
    scores = tuple(score for tile in tiles for score in tile)
    if len(scores) > MAX_SEQLEN:
        raise ScoresError(
            f"Row {number} has {len(scores)} scores; at most {MAX_SEQLEN} are traced.", _place(line)
        )
    return _Row(scores, tuple(map(len, tiles)), _place(line))


class _Piece(NamedTuple):
    """A part of what was typed, and where it begins."""

    text: str
    start: int

    @property
    def at(self) -> tuple[int, int]:
        """Where it stands, without the blanks around it; of blanks alone, where these are."""
        bare = self.text.strip()
        lead = len(self.text) - len(self.text.lstrip()) if bare else 0
        return self.start + lead, len(bare) or len(self.text)


def _pieces(number: int, tile: _Piece) -> Iterator[_Piece]:
    """The numbers of a tile as they are typed."""
    for part in re.finditer(r"(?:^|(?<=,))[^,]*", tile.text):
        piece = _Piece(part.group(), tile.start + part.start())
        if not piece.text.strip():
            beside = "a comma" if "," in tile.text else "a bar"
            raise ScoresError(f"Row {number}: a number is missing beside {beside}.", piece.at)
        for word in re.finditer(r"\S+", piece.text):
            yield _Piece(word.group(), piece.start + word.start())


def _score(number: int, piece: _Piece) -> float:
    try:
        score = float(piece.text)
    except ValueError:
        raise ScoresError(f"Row {number}: “{piece.text}” is no number.", piece.at) from None
    if math.isnan(score):
        raise ScoresError(f"Row {number}: “{piece.text}” is no number.", piece.at)
    if abs(score) > LARGEST:
        raise ScoresError(f"Row {number}: “{piece.text}” is beyond {LARGEST:g}, float32's room.", piece.at)
    return score


def _check_alike(number: int, row: _Row, first: _Row) -> None:
    """Refuse a row whose length or bars are other than those of the first one; it need have no bars."""
    if len(row.scores) != len(first.scores):
        counts = _counted(len(row.scores)), len(first.scores)
        raise ScoresError("Row {2} has {0}, row 1 has {1}.".format(*counts, number), row.at)
    if len(row.tiles) > 1 and row.tiles != first.tiles:
        raise ScoresError(f"The bars of row {number} stand elsewhere than those of row 1.", row.at)


def _block(row: _Row) -> int:
    """How many scores make a tile: as many as in the first one."""
    first, *others = row.tiles
    if not others:
        return min(BLOCK, first)
    for number, size in enumerate(others, 2):
        if size > first or (size < first and number <= len(others)):
            raise ScoresError(
                f"Tile {number} has {_counted(size)} and tile 1 has {first}: only the last may be shorter.",
                row.at,
            )
    return first


def _counted(scores: int) -> str:
    return f"{scores} score{'s' * (scores != 1)}"


def _place(line: re.Match[str]) -> tuple[int, int]:
    return _Piece(line.group(), line.start()).at
