"""The running sum is the script ℓ wherever it is read, and never a letter that a font draws like a 1."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFont, QRawFont
from PySide6.QtWidgets import QApplication

from flashscope.app.look.assets import ASSETS
from flashscope.app.look.fonts import mono_font, ui_font
from flashscope.app.words.glossary import GLOSSARY
from flashscope.app.words.symbols import scripted, spelled
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.claims.documents import CLAIMS

LONE = re.compile(r"(?<![\w'’.-])l(?![\w'’.-])")


def sentences() -> Iterator[str]:
    """What is said of the algorithm on screen."""
    yield from (spec.idea for spec in KERNELS)
    yield from (term.line for term in GLOSSARY)
    yield from (claim.says for claim in CLAIMS)
    for story in (ASSETS / "stories").glob("*.toml"):
        for line in story.read_text("utf-8").splitlines():
            if line.startswith(("sentence", "notes", "title")):
                yield re.sub(r"\{[^}]*\}", "", line)


def test_no_sentence_on_screen_has_a_lone_l() -> None:
    assert [text for text in sentences() if LONE.search(text)] == []


@pytest.mark.parametrize("font", [ui_font, mono_font])
def test_every_font_of_the_window_has_the_letters_or_one_behind_it_does(
    qapp: QApplication, font: object
) -> None:
    made = ui_font() if font is ui_font else mono_font()
    behind = [QRawFont.fromFont(QFont(family)) for family in made.families()]
    known = [raw for raw, family in zip(behind, made.families(), strict=True) if raw.familyName() == family]
    for letter in "mℓαβO′Σ∞":
        assert any(raw.supportsCharacter(ord(letter)) for raw in known), letter


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("l", "ℓ"),
        ("partial m and l", "partial m and ℓ"),
        ("O / l", "O / ℓ"),
        ("the slide's l, m", "the slide's ℓ, m"),
        ("l'ordre, l2, col l.cu", "l'ordre, l2, col l.cu"),
    ],
)
def test_a_lone_l_becomes_the_script_one(text: str, told: str) -> None:
    assert scripted(text) == told


def test_a_terminal_without_the_letters_is_told_them_in_ascii() -> None:
    assert spelled("α, O / ℓ", "utf-8") == "α, O / ℓ"
    assert spelled("α, O / ℓ", None) == "α, O / ℓ"
    assert spelled("α, O / ℓ", "ascii") == "alpha, O / l"
    assert spelled("α, O / ℓ", "iso8859-7") == "α, O / l"
    assert spelled("α", "no such encoding") == "alpha"
