"""Workers that import first what no other imports first leave no module out."""

from importlib.util import find_spec
from itertools import chain

import pytest

from tests.first_imports import modules, share


@pytest.mark.parametrize("count", [1, 3, 10])
def test_the_shares_of_all_workers_are_every_module_once_and_about_as_long(count: int) -> None:
    names = modules()
    shares = [share(names, place, count) for place in range(count)]
    assert [*chain.from_iterable(shares)] == names
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_the_modules_are_those_that_pytest_collects() -> None:
    assert __name__ in modules()
    assert all(find_spec(name) is not None for name in modules()[:10])
