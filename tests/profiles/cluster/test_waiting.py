"""Calls to a host that end in time, or are given up."""

import asyncio

import pytest

from flashscope.profiles.cluster.waiting import within


def test_a_call_that_is_given_up_as_its_answer_comes_is_given_up() -> None:
    async def given_up() -> None:
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        calling = asyncio.create_task(within(60, answer))
        for _ in range(3):  # until it waits
            await asyncio.sleep(0)
        answer.set_result(1)
        calling.cancel()
        await calling

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(given_up())


def test_a_call_is_answered_or_takes_too_long() -> None:
    async def both() -> tuple[int, asyncio.Event]:
        never = asyncio.Event()
        with pytest.raises(asyncio.TimeoutError):
            await within(0, never.wait())
        return await within(60, asyncio.sleep(0, 7)), never

    assert asyncio.run(both())[0] == 7
