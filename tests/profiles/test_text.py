"""Texts in a row read as a list in a sentence."""

import pytest

from flashscope.profiles.wire.text import listed


@pytest.mark.parametrize(
    ("texts", "told"), [((), ""), (("S",), "S"), (("S", "P"), "S and P"), (("S", "P", "O"), "S, P and O")]
)
def test_a_list_has_commas_and_one_and(texts: tuple[str, ...], told: str) -> None:
    assert listed(texts) == told


def test_parts_with_commas_of_their_own_may_be_set_apart_by_semicolons() -> None:
    assert listed(["d 64", "d 128, causal", "d 256"], between="; ") == "d 64; d 128, causal and d 256"
