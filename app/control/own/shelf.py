"""The kernels of the user's own that a sweep can be made of, and where each of them is from."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QObject, Signal

from flashscope.app.control.own.sources import Sources, Unreadable
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import own_kernel
from flashscope.kernels.own.spec import admit

Brought = tuple[OwnKernel, ...]


class Lying(NamedTuple):
    """What lies on the shelf besides the kernels of the folder and of packages.

    Attributes:
        brought: The kernels, the oldest first.
        named: The references of those whose files the user chose.
    """

    brought: Brought = ()
    named: frozenset[str] = frozenset()

    def without(self, name: str) -> "Lying":
        """The same without the kernel of that name, as though it had never come."""
        left = tuple(one for one in self.brought if one.name != name)
        return Lying(left, self.named & {one.reference for one in left})


class OwnShelf(QObject):
    """Data alone: that a kernel lies here does not allow it to run (`kernels.own.consent`).

    Attributes:
        lying: Those that the user brought, or that came with a session or a preset.
        faults: Files of the user's folder, and entry points of packages, that declare no kernel.

    Signals:
        changed: Other kernels lie here, or another version of one.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lying = Lying()
        self.faults: tuple[Unreadable, ...] = ()
        self._around: Brought = ()

    @property
    def kernels(self) -> Brought:
        """All that lie here; of those around, the ones that were not brought."""
        brought = self.lying.brought
        taken = {one.reference for one in brought}
        return (*brought, *_renamed((k for k in self._around if k.reference not in taken), brought))

    def find(self, name: str) -> OwnKernel | None:
        """The kernel of that name, None where none has it."""
        return next((one for one in self.kernels if one.name == name), None)

    def is_named(self, own: OwnKernel) -> bool:
        """Whether the user chose its file, put it into the folder, or installed it; a session does not."""
        around = any(own.reference == one.reference for one in self._around)
        return around or own.reference in self.lying.named

    def can_go(self, name: str) -> bool:
        """Whether a kernel can be taken off the list: those around stay as long as their file does."""
        return any(one.name == name for one in self.lying.brought)

    def show_around(self, found: Sources) -> None:
        """Take what the user's folder holds and packages offer now."""
        if (found.kernels, found.faults) != (self._around, self.faults):
            self._around, self.faults = found.kernels, found.faults
            self._tell()

    def bring(self, kernels: Sequence[OwnKernel]) -> Brought:
        """Take what the user chose, in the place of other versions of the same; as they are called here."""
        new = {one.reference for one in kernels}
        names = {one.reference: one.name for one in self.kernels}
        kept = tuple(one for one in self.lying.brought if one.reference not in new)
        called = (_called(one, names.get(one.reference, one.name)) for one in kernels)
        others = (*kept, *(one for one in self._around if one.reference not in new))
        brought = _renamed(called, others)
        self.put(Lying((*kept, *brought), self.lying.named | new))
        return brought

    def take(self, kernels: Iterable[OwnKernel]) -> list[str]:
        """Take what a session or a preset names, unless its name is taken here; then say so of each."""
        said, new = [], []
        for own in kernels:
            here = self.find(own.name)
            if here is None:
                new.append(own)
            elif (here.sha256, here.reference) != (own.sha256, own.reference):
                said.append(
                    f"{own.name} in the form is {here.path} (sha256 {here.sha256[:12]}…), "
                    f"not what was asked for: {own.path} (sha256 {own.sha256[:12]}…)."
                )
        if new:
            self.put(Lying((*self.lying.brought, *new), self.lying.named))
        return said

    def put(self, lying: Lying) -> None:
        """Have just these besides those around."""
        if lying != self.lying:
            self.lying = lying
            self._tell()

    def register(self) -> None:
        """Have the names mean what lies here: a session that was opened since may have its own of a name."""
        known = (own_kernel(one.name) for one in self.kernels)
        if [spec.own if spec else None for spec in known] != list(self.kernels):
            admit(self.kernels)

    def _tell(self) -> None:
        admit(self.kernels)
        self.changed.emit()


def _renamed(kernels: Iterable[OwnKernel], others: Sequence[OwnKernel]) -> Brought:
    """These, each under a name that none of the others has."""
    taken = {one.name for one in others}
    made: list[OwnKernel] = []
    for own in kernels:
        number, name = 1, own.name
        while name in taken:
            number += 1
            name = f"{own.name}-{number}"
        taken.add(name)
        made.append(_called(own, name))
    return tuple(made)


def _called(own: OwnKernel, name: str) -> OwnKernel:
    return own if own.name == name else msgspec.structs.replace(own, name=name)
