"""The recordings of real GPUs that come with the program."""

from pathlib import Path

from profiles.store import SUFFIX

ASSETS = Path(__file__).parents[2] / "assets"
BUNDLED = ASSETS / "sessions"


def bundled_sessions() -> list[Path]:
    """Session files that come with the program, by name; empty when this copy has none."""
    return sorted(BUNDLED.glob(f"*{SUFFIX}"))
