"""Which files of the user's own may run: those that the user named to this process, and no others.

A session, a plan or a story may name a file of kernels. That alone never runs it: the user has to name the
file, with the same bytes, to the process that is to run it.
"""

from flashscope.home import in_home
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import is_taken
from flashscope.kernels.own.files import file_of, kept_bytes, sha256_of

_named: set[tuple[object, ...]] = set()


def allow(own: OwnKernel) -> None:
    """The user named this file, as it is now."""
    _named.add(_key(own))


def obstacle_to_run(own: OwnKernel) -> str:
    """Why a kernel may not run in this process, in one sentence with the remedy; empty when it may."""
    if obstacle := obstacle_of_file(own):
        return obstacle
    if _key(own) not in _named:
        return (
            f"{own.name} is from a file of one's own, which runs only where you name it: "
            f"--kernel {own.reference}, or bring it into the form of the window."
        )
    return ""


def obstacle_of_file(own: OwnKernel) -> str:
    """Why what a kernel was read from is not to be had, whoever names it; empty when it is."""
    if is_taken(own.name):
        return f"{own.name} is the name of a kernel that is here by now; measure the file under another name."
    if _key(own) in _named and kept_bytes(own) is not None:
        return ""  # the very bytes that the user named, whatever the file holds by now
    found = sha256_of(file_of(own))
    wanted = f"sha256 {own.sha256[:12]}…"
    if found is None:
        at = f" at commit {own.commit[:12]}" if own.commit and not own.differs else ""
        return f"{own.name} is from {own.path} ({wanted}{at}), which is not there; put that file back."
    if found != own.sha256:
        return (
            f"{own.path} is not the file that {own.name} is from: it has sha256 {found[:12]}…, not {wanted}; "
            "put that version back, or measure this one in a session of its own."
        )
    return ""


def _key(own: OwnKernel) -> tuple[object, ...]:
    """The file, and all that says what of it runs and how: a session may say otherwise of the user's file."""
    launches = own.launches, own.backward_launches, own.workspace, own.defines
    return str(in_home(file_of(own))), own.sha256, own.module, own.function, own.backward, *launches
