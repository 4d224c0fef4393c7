"""Waiting in an event loop, for so long at most."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Answered = TypeVar("Answered")


async def within(limit_s: float, awaitable: Awaitable[Answered]) -> Answered:
    """What comes of it, or TimeoutError; unlike asyncio.wait_for of 3.11 it never misses its own cancelling.

    Raises:
        asyncio.TimeoutError: It takes longer.
    """
    task = asyncio.ensure_future(awaitable)
    try:
        if not (await asyncio.wait({task}, timeout=limit_s))[0]:
            raise asyncio.TimeoutError
    finally:
        task.cancel()
    return task.result()
