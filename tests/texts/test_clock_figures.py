"""What clocks add: the ranges on the pages are those of the one table that has all figures."""

import pytest

from tests.texts.pages import says, table_after

TABLE, ATTEMPTS = "kernels/README.md", "kernels/cuda/clocks-attempts.md"
AIMS = {"64": 10, "128": 5}


def table(marker: str) -> dict[tuple[str, ...], list[float]]:
    """What clocks add in percent over N, by a pass of a kernel, head dim and mask."""
    return {
        (kernel.replace("`", ""), *head.split(", ")): [float(one) for one in told]
        for kernel, head, *told in table_after(TABLE, marker)
    }


H200, H100 = table("### What clocks add"), table("The same on an H100, without the forward passes")


def added(kernel: str, *head_dims: str) -> list[float]:
    """All that clocks add to a pass of a kernel on an H200, in percent, of some head dims or of all."""
    return [
        percent
        for (told, head_dim, *_), percents in H200.items()
        if told == kernel and head_dim in (head_dims or (head_dim,))
        for percent in percents
    ]


def between(percents: list[float]) -> str:
    return f"{min(percents):.0f} to {max(percents):.0f}%"


def test_the_ranges_on_the_apps_page_are_the_tables() -> None:
    wide = between(added("flash3 backward", "256"))
    says(
        "app/README.md",
        f"On an H200, N = 1k to 8k, clocks add {between(added('flash3 forward'))} to flash3's forward pass",
        f"{between(added('flash3 backward', '64', '128'))} to its backward pass (at head dim 256 {wide})",
        f"{between(added('flash2 forward'))} to flash2's, to its backward pass",
        f"{between(added('flash2 backward', '128'))} at head dim 128 and "
        f"{between(added('flash2 backward', '64'))} at 64",
        f"up to {max(added('flash1 backward')):.0f}% to flash1's backward pass",
    )


@pytest.mark.parametrize("passes", ["Forward", "Backward"])
def test_what_is_kept_of_the_attempts_adds_what_the_table_has(passes: str) -> None:
    (told,) = (cells for name, *cells in table_after(ATTEMPTS, "## What is kept") if name == passes)
    own = [one for (kernel, *_), one in H100.items() if kernel == f"flash2 {passes.lower()}"]
    assert told == [f"{min(one):.1f} to {max(one):.1f}" for one in own]


def beyond_the_aim(told: dict[tuple[str, ...], list[float]]) -> dict[tuple[str, ...], list[str]]:
    """By how many points passes of flash2 and flash3 are beyond the aim, where they are."""
    return {
        head: [f"{one - AIMS[head[1]]:.1f}" for one in percents if one > AIMS[head[1]]]
        for head, percents in told.items()
        if head[1] in AIMS and head[0].startswith(("flash2 ", "flash3 ")) and max(percents) > AIMS[head[1]]
    }


def test_how_far_passes_are_beyond_the_aim_is_the_tables() -> None:
    beyond = beyond_the_aim(H100)
    full, causal = ("flash2 backward", "64"), ("flash2 backward", "64", "causal")
    assert {*beyond} == {full, causal, ("flash3 backward", "128")}
    says(
        ATTEMPTS,
        f"by {beyond[full][0]} points without a mask at N = 8k",
        "by {}, {} and {} with one".format(*beyond[causal]),
    )


def test_passes_beyond_the_aim_on_an_h200_are_those_that_the_page_names() -> None:
    beyond = beyond_the_aim(H200)
    wide = {("flash3 forward", "128"), ("flash3 backward", "128")}
    assert {*beyond} == {("flash2 backward", "64"), ("flash2 backward", "64", "causal"), *wide}
    assert all(H200[one].index(max(H200[one])) == 3 and len(beyond[one]) == 1 for one in wide)  # at 8k alone
