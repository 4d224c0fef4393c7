"""The kinds of processes that are asked and answer in JSON, a line each, wherever they run."""

from typing import Literal

LineKind = Literal["arbiter", "audit", "cuts", "ranks"]
"""What is asked and answered is in `profiles.wire`; `profiles.engine.line_kinds` starts them."""
