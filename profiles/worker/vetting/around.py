"""What a run must leave as it is: the process, the inputs, and the memory around them."""

from typing import Any, NamedTuple

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
            before: The bytes of all that it reads before the run, see `bytes_read`.
            answer: What it returned, itself.

        Raises:
            CaughtError: It did.
        """
        if told := self.state.trouble():
            raise caught(told)
        now = bytes_read(self.given)
        for name in now:
            if now[name] != before[name]:
                raise caught(f"It wrote to {name}, which it was given to read.")
        for name, array in names_of(self.given).items():
            if any(overlap(array, one) for one in answer.arrays):
                raise caught(f"Its answer lies in the memory of {name}.")
        if told := self.guards.trouble():
            raise caught(told)


def bytes_of(given: Given) -> dict[str, bytes]:
    """The bytes of all that is drawn."""
    return _bytes(names_of(given))


def bytes_read(given: Given) -> dict[str, bytes]:
    """The bytes of that, and of O and LSE, which a backward pass alone is given, too."""
    left = {"O": given.output, "LSE": given.lse}
    return bytes_of(given) | _bytes({name: array for name, array in left.items() if array is not None})


def _bytes(named: dict[str, Any]) -> dict[str, bytes]:
    return {name: bits_of(array.reshape(-1)).tobytes() for name, array in named.items()}


def overlap(one: object, other: object) -> bool:
    """Whether two arrays of one kind share memory; of others nothing is known."""
    if backend_of(one) is None or backend_of(one) != backend_of(other):
        return False
    return bool(array_module(one).may_share_memory(one, other))
