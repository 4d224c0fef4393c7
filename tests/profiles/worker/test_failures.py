"""What a driver says of a fault is told in words, with the driver's own behind them."""

import pytest

from flashscope.profiles.worker.failures import explain

SAID = {
    "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered": "memory that is not its own",
    "cudaErrorMisalignedAddress: misaligned address": "no multiple of what it moves at once",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch": "more registers or shared",
    "cudaErrorLaunchFailure: unspecified launch failure": "the GPU broke it off",
    "CUDA error: device-side assert triggered": "an assert in it failed",
}


@pytest.mark.parametrize("said", SAID)
def test_a_fault_on_a_gpu_is_told_in_words(said: str) -> None:
    refusal = explain(RuntimeError(said), "verify")
    assert refusal.status == "failed"
    assert refusal.reason.startswith("The kernel failed in the verify phase: ")
    assert SAID[said] in refusal.reason
    assert f"(RuntimeError: {said})" in refusal.reason


def test_any_other_error_is_told_as_it_is() -> None:
    told = explain(RuntimeError("no words for it.\nmore"), "measure").reason
    assert told == "The kernel failed in the measure phase: RuntimeError: no words for it."
