"""Who is sampled when: rounds of all, B A C, C A B, A C B, B C A, ... until each has enough.

The order is drawn anew for every other round and turned round for the one after it: every kernel comes as
early as late, and after any other, so that none gains by its place.
"""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from flashscope.profiles.plan.plan import Protocol

MIN_SAMPLES = 3  # taken even when the time cap has passed

T = TypeVar("T")


def enough(protocol: Protocol, samples: int, spent_s: float) -> bool:
    """Whether a point has the samples it was to have, or those that fit under the cap but at least three.

    Args:
        protocol: How many, and the cap.
        samples: How many there are.
        spent_s: How long they took, without the turns of others.
    """
    return samples >= protocol.repeats or (samples >= MIN_SAMPLES and spent_s >= protocol.time_cap_s)


def take_turns(
    members: Sequence[T], done: Callable[[T], bool], turn: Callable[[T, int], None], seed: int
) -> None:
    """Give every member that is not done a turn a round until all are.

    Args:
        members: Who takes turns.
        done: Whether a member needs no turn any more; asked before each of its turns.
        turn: A member's turn, with the number of the round from 0.
        seed: What the orders are drawn by.
    """
    draws, order, number = random.Random(seed), list(members), 0  # noqa: S311 - not for secrets
    while not all(map(done, members)):
        if number % 2:
            order.reverse()
        else:
            draws.shuffle(order)
        for member in order:
            if not done(member):
                turn(member, number)
        number += 1
