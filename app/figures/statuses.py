"""How a point without a value, and how far one can be trusted, is drawn: a glyph and a word; no Qt."""

from dataclasses import dataclass

from flashscope.app.words.results.progress import status_word
from flashscope.profiles.results.model.trust import Word

Strokes = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True)
class StatusMark:
    """One status: its word and its strokes in a box from -0.5 to 0.5, y downwards."""

    word: str
    strokes: Strokes


_CROSS: Strokes = (((-0.4, -0.4), (0.4, 0.4)), ((-0.4, 0.4), (0.4, -0.4)))
_BOX: Strokes = (((-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45), (-0.45, -0.45)),)
_STROKE_THROUGH: Strokes = (((-0.45, 0.45), (0.45, -0.45)),)
_BOLT: Strokes = (
    ((0.1, -0.5), (-0.3, 0.1), (0.05, 0.1), (-0.1, 0.5), (0.3, -0.1), (-0.05, -0.1), (0.1, -0.5)),
)
_DIAMOND: Strokes = (((0, -0.5), (0.5, 0), (0, 0.5), (-0.5, 0), (0, -0.5)),)
STATUS_MARKS = {
    "will-not-fit": StatusMark(status_word("will-not-fit"), _CROSS),
    "oom": StatusMark(status_word("oom"), (*_BOX, *_CROSS)),
    "timeout": StatusMark(
        "timeout", (((-0.4, -0.45), (0.4, -0.45), (-0.4, 0.45), (0.4, 0.45), (-0.4, -0.45)),)
    ),
    "wrong": StatusMark(
        "wrong",
        (((-0.45, -0.18), (0.45, -0.18)), ((-0.45, 0.18), (0.45, 0.18)), ((0.25, -0.5), (-0.25, 0.5))),
    ),
    "impossible": StatusMark("impossible", (*_BOLT, *_STROKE_THROUGH)),
    "failed": StatusMark("failed", (((0.15, -0.5), (-0.25, 0.08), (0.25, -0.08), (-0.15, 0.5)),)),
    "unsupported": StatusMark("unsupported", (*_DIAMOND, ((-0.25, 0.25), (0.25, -0.25)))),
    "altered": StatusMark(
        "altered", (((-0.4, -0.45), (0.4, 0.45)), ((-0.4, 0.45), (-0.1, 0.12)), ((0.1, -0.12), (0.4, -0.45)))
    ),
    "cancelled": StatusMark("cancelled", _BOX),
    "interrupted": StatusMark("interrupted", (((-0.2, -0.45), (-0.2, 0.45)), ((0.2, -0.45), (0.2, 0.45)))),
    "done": StatusMark("done", (((-0.4, 0.05), (-0.1, 0.35), (0.4, -0.35)),)),
    "running": StatusMark("running", (((-0.25, -0.4), (0.4, 0), (-0.25, 0.4), (-0.25, -0.4)),)),
    "pending": StatusMark("pending", (((-0.3, 0), (0.3, 0)),)),
}
TRUST_MARKS: dict[Word, StatusMark] = {
    "solid": StatusMark("solid", (*_BOX, ((-0.2, 0.02), (-0.05, 0.18), (0.22, -0.18)))),
    "fair": StatusMark("fair", (*_BOX, ((-0.2, 0), (0.2, 0)))),
    "doubtful": StatusMark("doubtful", (((0, -0.5), (0, 0.15)), ((0, 0.36), (0, 0.5)))),
    "impossible": StatusMark("impossible", (*_BOLT, *_STROKE_THROUGH)),
}
