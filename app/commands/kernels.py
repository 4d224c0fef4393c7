"""`kernels`: every kernel, and on which backend it runs here or why not."""

from collections.abc import Iterator
from typing import Any, get_args

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.local import find_machine, local_driver
from flashscope.app.commands.messages import complain, say, say_json
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.spec import FEATURES, KernelSpec
from flashscope.kernels.own.references import introduced, own_names
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.machine import Machine

NO_GPU = "no usable GPU here"


def run(*, as_json: bool) -> int:
    """Probe this machine in a child and print the kernels."""
    with local_driver() as (driver, events):
        machine = find_machine(driver, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    described = [kernel_document(spec, machine) for spec in (*KERNELS, *_own())]
    if as_json:
        say_json({"kernels": described})
        return 0
    _print(described, machine)
    return 0


def _own() -> Iterator[KernelSpec]:
    """The kernels of the user's own that go by a name; what is wrong with one is said in its place."""
    for name in own_names():
        if (own := _introduced(name)) is not None:
            yield spec_of(own)


def _introduced(name: str) -> OwnKernel | None:
    try:
        return introduced(name)
    except InputError as error:
        complain("kernels", str(error))
        return None


def _print(described: list[dict[str, Any]], machine: Machine) -> None:
    """A kernel and its backends, then once why a whole backend is missing."""
    for kernel in described:
        say(f"{kernel['name']}: {kernel['idea']}")
        if kernel["backward_idea"]:
            say(f"  backward pass: {kernel['backward_idea']}")
        for name, backend in kernel["backends"].items():
            missing = NO_GPU if backend["dtypes"] and machine.device(name) is None else backend["reason"]
            backward = f"backward: {', '.join(backend['backward'])}" if backend["backward"] else ""
            parts = ", ".join(backend["dtypes"]), ", ".join(backend["features"]), backward
            supported = "; ".join(filter(None, parts))
            say(f"  {name}: {missing or supported}")
    if machine.device("cuda") is None:
        say(f"{NO_GPU}: {machine.why_no_gpu()}")


def kernel_document(spec: KernelSpec, machine: Machine) -> dict[str, Any]:
    """One kernel as it goes into the JSON document."""
    backends: tuple[Backend, ...] = get_args(Backend)
    return {
        "name": spec.name,
        "family": spec.family,
        "idea": spec.idea,
        "backward_idea": spec.backward.idea if spec.backward else None,
        "backends": {backend: _support(spec, backend, machine) for backend in backends},
    }


def _support(spec: KernelSpec, backend: Backend, machine: Machine) -> dict[str, Any]:
    """Whether a kernel runs on a backend here, which dtypes it takes, forward and backward, and why not."""
    dtypes, device = spec.dtypes.get(backend, ()), machine.device(backend)
    head_dims = list(spec.head_dims[backend]) if dtypes else []
    reason: str | None = None
    if not dtypes:
        reason = f"{spec.name} is not implemented on the {backend} backend"
    elif device is None:
        reason = f"{NO_GPU}: {machine.why_no_gpu()}"
    else:
        problem = Problem(seqlen_q=1, seqlen_k=1, head_dim=head_dims[0], dtype=dtypes[0])
        reason = spec.unsupported(problem, device)
    return {
        "supported": reason is None,
        "reason": reason,
        "dtypes": list(dtypes),
        "backward": list(spec.backward.dtypes.get(backend, ())) if spec.backward else [],
        "head_dims": head_dims,
        "features": [name for name in FEATURES if dtypes and name in spec.features[backend]],
    }
