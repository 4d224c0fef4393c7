"""The kernels there are. Forms, tables, tests and documents iterate over this tuple."""

from kernels import workspace
from kernels.problem import Backend, Dtype
from kernels.spec import KernelSpec

DTYPES_BY_BACKEND: dict[Backend, tuple[Dtype, ...]] = {
    "cuda": ("float32", "float16", "bfloat16"),
    "cpu": ("float32",),
}

STANDARD = KernelSpec(
    name="standard",
    family="standard",
    idea="S = QKᵀ, softmax, PV: three launches with S and P in HBM",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.standard,
    implementation={"cuda": "kernels.cuda.standard", "cpu": "kernels.cpu.standard"},
)

FLASH1 = KernelSpec(
    name="flash1",
    family="tiled",
    idea="K/V outer, Q inner: S stays on chip, but O, l and m go through HBM for every key block",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.flash1,
    implementation={"cuda": "kernels.cuda.flash1", "cpu": "kernels.cpu.flash1"},
)

FLASH2 = KernelSpec(
    name="flash2",
    family="tiled",
    idea="Q outer, K/V inner: O, l and m never leave the chip either, normalised once at the end",
    dtypes=DTYPES_BY_BACKEND,
    workspace=workspace.flash2,
    implementation={"cuda": "kernels.cuda.flash2", "cpu": "kernels.cpu.flash2"},
)

KERNELS: tuple[KernelSpec, ...] = (STANDARD, FLASH1, FLASH2)


def find_kernel(name: str, kernels: tuple[KernelSpec, ...] = KERNELS) -> KernelSpec:
    """The spec of that name.

    Raises:
        KeyError: No kernel has it; the text lists those that exist.
    """
    for spec in kernels:
        if spec.name == name:
            return spec
    raise KeyError(f"no kernel is called {name!r}; there are {', '.join(k.name for k in kernels)}")
