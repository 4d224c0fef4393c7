"""The kinds of processes that are asked and answer in JSON, a line each, wherever they run."""

from typing import Literal

LineKind = Literal["audit", "cuts", "ranks"]
"""See `audits`, `cuts` and `ranks` in `profiles.wire`; `profiles.engine.line_kinds` starts them."""
