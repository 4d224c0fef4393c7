"""Texts that spell a request, and those that spell none."""

import pytest

from flashscope.profiles.plan.request import Request
from flashscope.profiles.plan.spelled import read_spelled


def test_what_is_left_out_is_as_the_backend_has_it_by_default() -> None:
    assert read_spelled({"backend": "cpu"}) == Request.of("cpu")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({}, "its backend is none of"),
        ({"backend": "tpu"}, "its backend is none of"),
        ({"backend": "cpu", "tiles": "8"}, "'tiles' is no choice of a sweep"),
        ({"backend": "cpu", "kernels": "flash9"}, "kernels: "),
        ({"backend": "cpu", "heads": 2}, "heads: it is no text"),
        ({"backend": "cpu", "heads": "many"}, "heads: 'many' is not a whole number from 1"),
        ({"backend": "cpu", "causal": "yes"}, "causal: it is no switch"),
        ({"backend": "cpu", "seqlens": "4:2"}, "seqlens: The range 4:2 runs backwards"),
        ({"backend": "cpu", "blocks": "banded:3"}, "blocks: "),
        ({"backend": "cpu", "window": "x"}, "window: 'x' is not a window like 128,0"),
    ],
)
def test_what_spells_no_request_is_refused_with_its_choice(said: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_spelled(said)
