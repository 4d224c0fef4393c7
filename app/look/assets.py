"""Where the pictures, fonts and recordings are that come with the program."""

from pathlib import Path

ASSETS = Path(__file__).parents[2] / "assets"
