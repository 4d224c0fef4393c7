"""A small cache: the newest of what was made, up to a number and a size of them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Sized(Generic[Value]):
    """A value, and the bytes that it holds."""

    value: Value
    nbytes: int


class Kept(Generic[Value]):
    """Values by key; what has not been asked for the longest goes first. Several threads may ask at once.

    Nothing is made under the lock: threads that ask for the same new key at once each make it, and one of the
    equal values is kept. What fails to be made is not kept, nor what alone is larger than the limit.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._values: OrderedDict[Hashable, Sized[Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Sized[Value]]) -> Value:
        """The value of this key, made now unless it is kept."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found.value
        made = make()
        if made.nbytes <= self._most_bytes:
            with self._lock:
                self._values[key] = made
                self._values.move_to_end(key)
                while len(self._values) > self._most or self.nbytes > self._most_bytes:
                    self._values.popitem(last=False)
        return made.value

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept."""
        return sum(one.nbytes for one in self._values.values())

    def __len__(self) -> int:
        return len(self._values)
