"""The kernels an engine runs, named by text so that every process finds the same ones."""

from importlib import import_module

from flashscope.kernels.catalogue.spec import KernelSpec


def import_specs(path: str) -> tuple[KernelSpec, ...]:
    """Import the tuple of KernelSpec at `module:NAME`.

    Raises:
        ImportError: There is no such module.
        AttributeError: It holds no such name.
    """
    module, _, name = path.partition(":")
    kernels: tuple[KernelSpec, ...] = getattr(import_module(module), name)
    return kernels
