"""What a run must leave as it is: the process, the inputs, and the memory around them."""

from typing import NamedTuple

from flashscope.kernels.launching.passes import Given, PassOutputs
from flashscope.kernels.workload.arrays import array_module, backend_of, bits_of
from flashscope.profiles.worker.vetting.answers import caught
from flashscope.profiles.worker.vetting.guards import Guards, names_of
from flashscope.profiles.worker.vetting.process_state import ProcessState


class Around(NamedTuple):
    """What is looked at after a run.

    Attributes:
        state: The process.
        guards: The memory around the inputs.
        given: The inputs.
    """

    state: ProcessState
    guards: Guards
    given: Given

    def look(self, before: dict[str, bytes], answer: PassOutputs) -> None:
        """Raise where a run left something else.

        Args:
            before: The inputs' bytes before the run, see `bytes_of`.
            answer: What it returned, itself.

        Raises:
            CaughtError: It did.
        """
        if told := self.state.trouble():
            raise caught(told)
        now = bytes_of(self.given)
        for name in now:
            if now[name] != before[name]:
                raise caught(f"It wrote to {name}, which it was given to read.")
        for name, array in names_of(self.given).items():
            if any(overlap(array, one) for one in answer.arrays):
                raise caught(f"Its answer lies in the memory of {name}.")
        if told := self.guards.trouble():
            raise caught(told)


def bytes_of(given: Given) -> dict[str, bytes]:
    """The bytes of all that is given."""
    return {name: bits_of(array.reshape(-1)).tobytes() for name, array in names_of(given).items()}


def overlap(one: object, other: object) -> bool:
    """Whether two arrays of one kind share memory; of others nothing is known."""
    if backend_of(one) is None or backend_of(one) != backend_of(other):
        return False
    return bool(array_module(one).may_share_memory(one, other))
