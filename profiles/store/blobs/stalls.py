"""Stall profiles from a file: every relation that the program relies on is checked."""

import msgspec

from flashscope.kernels.workload.stalls import MOST_INSTRUCTIONS, MOST_REASONS, NO_LINE, StallProfile
from flashscope.profiles.store.blobs.arrays import INTEGERS, check_array, check_range

MOST_CODE = 1 << 28  # bytes of machine code
MOST_LINES = 1 << 20
MOST_TEXT = 1_000
LONGEST_NS = 3_600 * 10**9
MOST_INTERVAL = 1 << 31
MOST_LAUNCHES = 1_000


def decode_stalls(blob: bytes) -> StallProfile:
    """A profile as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    profile = msgspec.msgpack.decode(blob, type=StallProfile)
    _check_numbers(profile)
    count = len(profile.text)
    for name in ("address", "line", "idle"):
        check_array(f"{name} of a stall profile", getattr(profile, name), (count,), INTEGERS)
    shape = (count, len(profile.reasons))
    check_array("samples of a stall profile", profile.samples, shape, INTEGERS)
    check_array("plain_ns of a stall profile", profile.plain_ns, profile.plain_ns.shape[:1], INTEGERS)
    _check_arrays(profile)
    return profile


def _check_numbers(profile: StallProfile) -> None:
    """Refuse more than a profile holds, before any of it is worked with."""
    if not 1 <= len(profile.text) <= MOST_INSTRUCTIONS:
        raise ValueError(f"a stall profile of {len(profile.text)} instructions")
    if not 1 <= len(profile.reasons) <= MOST_REASONS or len(set(profile.reasons)) != len(profile.reasons):
        raise ValueError(
            f"a stall profile of the reasons {', '.join(profile.reasons[:MOST_REASONS])[:MOST_TEXT]}"
        )
    if max(map(len, (*profile.text, *profile.reasons))) > MOST_TEXT:
        raise ValueError("a stall profile with an instruction or a reason that is too long")
    if not 1 <= profile.interval <= MOST_INTERVAL:
        raise ValueError(f"a stall profile of moments {profile.interval} cycles apart")
    if not 1 <= profile.launches <= MOST_LAUNCHES:
        raise ValueError(f"a stall profile of {profile.launches} launches")
    for name in ("profiled_ns", "sampled_ns"):
        if not 0 <= getattr(profile, name) <= LONGEST_NS:
            raise ValueError(f"a stall profile whose {name} is {getattr(profile, name)}")
    if not 0 <= profile.others < 1 << 62:
        raise ValueError(f"a stall profile with {profile.others} samples of other kernels")


def _check_arrays(profile: StallProfile) -> None:
    """Refuse instructions that are not in the order of their addresses, and less than no sample."""
    address, samples, idle = (one.numpy() for one in (profile.address, profile.samples, profile.idle))
    check_range("address of a stall profile", address, 0, MOST_CODE)
    check_range("line of a stall profile", profile.line.numpy(), NO_LINE, MOST_LINES)
    check_range("samples of a stall profile", samples, 0, 1 << 31)
    check_range("idle of a stall profile", idle, 0, 1 << 31)
    check_range("plain_ns of a stall profile", profile.plain_ns.numpy(), 0, LONGEST_NS)
    if (address[1:] <= address[:-1]).any():
        raise ValueError("a stall profile whose instructions are not in the order of their addresses")
    if (idle > samples.sum(axis=1)).any():
        raise ValueError("a stall profile with an instruction that has more idle samples than samples")
