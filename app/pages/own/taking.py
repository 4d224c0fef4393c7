"""What becomes of the user's own kernels where a request from elsewhere fills the form."""

from collections.abc import Sequence

from msgspec.structs import replace

from flashscope.app.control.own.shelf import OwnShelf
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import own_kernel
from flashscope.kernels.own.consent import obstacle_of_file
from flashscope.profiles.plan.request import Request


def taken(request: Request, own: Sequence[OwnKernel], shelf: OwnShelf) -> tuple[Request, list[str]]:
    """The request without those whose file is gone or another, and why; the others come to the shelf.

    Args:
        request: Names kernels.
        own: What those of them declare that are of the user's own.
        shelf: Where they come to lie; what lies there under a name stays, which is said, too.
    """
    lost = {one.name: why for one in own if shelf.find(one.name) is None and (why := obstacle_of_file(one))}
    told = shelf.take(one for one in own if one.name not in lost)
    kernels = tuple(name for name in request.kernels if name not in lost)
    return replace(request, kernels=kernels), [*(f"{why} It is left out." for why in lost.values()), *told]


def without_own(request: Request) -> Request:
    """The request for the kernels of the project alone: what the window remembers at its next start."""
    return replace(request, kernels=tuple(name for name in request.kernels if own_kernel(name) is None))
