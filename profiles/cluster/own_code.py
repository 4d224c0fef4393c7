"""Kernels of the user's own on another machine: their text travels with its hash, and a host has to trust it.

This guards against accidents and is no wall: whoever holds a connection file can run any program there.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.consent import allow, obstacle_to_run
from flashscope.kernels.own.files import kept_bytes
from flashscope.kernels.own.references import with_source
from flashscope.profiles.plan.plan import Plan


def untrusted(host: str, own: Sequence[OwnKernel]) -> str:
    """Why a host does not run these, in a sentence with the remedy."""
    names = " and ".join(one.name for one in own)
    return (
        f"{host} runs no code that clients send, and {names} would be: have its user start serve there with "
        "--trust-code, or measure where the file is."
    )


def obstacle_to_sending(plan: Plan, host: str, *, trusts_code: bool) -> str:
    """Why a plan's own kernels may not be sent to a host, in a sentence with the remedy; empty: they may."""
    if plan.own and not trusts_code:
        return untrusted(host, plan.own)
    for one in plan.own:
        if one.module:
            told = f"{one.name} is of the installed package {one.module}, whose modules are not sent"
            return f"{told}; name its file alone, --kernel FILE, or measure where the package is."
    return next(filter(None, map(obstacle_to_run, plan.own)), "")


def to_send(plan: Plan) -> Plan:
    """The plan with the text of each of its own kernels.

    Raises:
        InputError: A file has changed since it was read.
    """
    return replace(plan, own=tuple(map(with_source, plan.own)))


def obstacle_to_taking(plan: Plan, host: str, *, trusts_code: bool) -> str:
    """Why a host refuses what a client has sent, as above; otherwise it may run here from now on."""
    if plan.own and not trusts_code:
        return untrusted(host, plan.own)
    for one in plan.own:
        if kept_bytes(one) is None:
            told = f"The text of {one.name} that has come to {host} does not have its sha256"
            return f"{told} ({one.sha256[:12]}…), and is not run; measure it again."
    for one in plan.own:
        allow(one)
    return ""
