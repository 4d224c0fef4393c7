"""The kinds of processes that are asked and answer in JSON, a line each, wherever they run."""

from typing import Literal

LineKind = Literal["cuts", "ranks"]
"""See `profiles.wire.cuts` and `profiles.wire.ranks`; `profiles.engine.line_kinds` starts them."""
