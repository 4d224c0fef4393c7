"""Who is sampled when: rounds A B C, A B C, ... until each has enough."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from profiles.plan.plan import Protocol

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


def take_turns(members: Sequence[T], done: Callable[[T], bool], turn: Callable[[T, int], None]) -> None:
    """Give every member that is not done a turn a round, in their order, until all are.

    Args:
        members: Who takes turns.
        done: Whether a member needs no turn any more; asked before each of its turns.
        turn: A member's turn, with the number of the round from 0.
    """
    number = 0
    while not all(map(done, members)):
        for member in members:
            if not done(member):
                turn(member, number)
        number += 1
