"""What the driver is asked for so that no kernel finds a part of the L2 cache set aside, without a GPU."""

import ctypes
from typing import Any

import pytest

from flashscope.profiles.worker.instruments import set_aside
from flashscope.profiles.worker.instruments.set_aside import (
    ACCESS_POLICY_WINDOW,
    ATTRIBUTE_BYTES,
    AccessPolicyWindow,
)

UNSUPPORTED_LIMIT = 215
STREAM = 2**40 + 1


def test_the_driver_finds_the_window_where_its_header_says() -> None:
    """Written by NVIDIA's own binding, read through ours."""
    from cuda.bindings import driver  # noqa: PLC0415 - a test dependency

    given = driver.CUstreamAttrValue()
    given.accessPolicyWindow.base_ptr, given.accessPolicyWindow.num_bytes = 2**40 + 1, 2**33
    given.accessPolicyWindow.hitRatio = 0.5
    persisting = driver.CUaccessProperty.CU_ACCESS_PROPERTY_PERSISTING
    given.accessPolicyWindow.hitProp = persisting
    found = AccessPolicyWindow.from_address(int(given.getPtr()))
    assert (found.base_ptr, found.num_bytes, found.hit_ratio) == (2**40 + 1, 2**33, 0.5)
    assert found.hit_property == int(persisting)
    assert ctypes.sizeof(AccessPolicyWindow) == ATTRIBUTE_BYTES
    assert int(driver.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) == ACCESS_POLICY_WINDOW
    limit = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE
    assert int(limit) == set_aside.PERSISTING_L2_CACHE_SIZE


class Driver:
    """Stands in for the driver's library, with what kernels have left in it."""

    def __init__(self, *, window: int = 0, kept: int = 0, status: int = 0) -> None:
        self.window, self.kept, self.status = window, kept, status
        self.persisting = bool(kept)

    def cuStreamGetAttribute(self, stream: Any, attribute: Any, value: Any) -> int:
        assert (stream.value, attribute.value) == (STREAM, ACCESS_POLICY_WINDOW)
        value._obj.base_ptr, value._obj.num_bytes = 4096, self.window
        return 0

    def cuStreamSetAttribute(self, stream: Any, attribute: Any, value: Any) -> int:
        assert (stream.value, attribute.value) == (STREAM, ACCESS_POLICY_WINDOW)
        self.window = value._obj.num_bytes
        return self.status

    def cuCtxGetLimit(self, value: Any, limit: Any) -> int:
        assert limit.value == set_aside.PERSISTING_L2_CACHE_SIZE
        value._obj.value = max(self.kept, 0)
        return 0 if self.kept >= 0 else UNSUPPORTED_LIMIT

    def cuCtxSetLimit(self, limit: Any, value: Any) -> int:
        assert limit.value == set_aside.PERSISTING_L2_CACHE_SIZE
        self.kept = value.value
        return self.status

    def cuCtxResetPersistingL2Cache(self) -> int:
        self.persisting = False
        return self.status


@pytest.mark.parametrize("window", [0, 1 << 20])
@pytest.mark.parametrize("kept", [0, 1 << 24])
def test_nothing_of_the_cache_stays_set_aside_and_no_window_open(
    monkeypatch: pytest.MonkeyPatch, window: int, kept: int
) -> None:
    library = Driver(window=window, kept=kept)
    monkeypatch.setattr(set_aside, "driver", lambda: library)
    set_aside.give_back_l2(STREAM)
    assert (library.window, library.kept, library.persisting) == (0, 0, False)


def test_a_gpu_that_can_set_nothing_aside_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Driver(kept=-1, status=1)
    monkeypatch.setattr(set_aside, "driver", lambda: library)
    set_aside.give_back_l2(STREAM)
    assert (library.window, library.kept) == (0, -1)


@pytest.mark.parametrize("left", [{"window": 4096}, {"kept": 4096}])
def test_a_driver_that_refuses_is_told_of(monkeypatch: pytest.MonkeyPatch, left: dict[str, int]) -> None:
    monkeypatch.setattr(set_aside, "driver", lambda: Driver(**left, status=1))
    monkeypatch.setattr(set_aside, "cause_of", lambda status: f"refused ({status})")
    with pytest.raises(RuntimeError, match=r"set aside of the L2 cache stays so: refused \(1\)"):
        set_aside.give_back_l2(STREAM)


@pytest.mark.parametrize("bytes_left", [0, 1 << 20])
def test_what_is_set_aside_and_open_is_read(monkeypatch: pytest.MonkeyPatch, bytes_left: int) -> None:
    monkeypatch.setattr(set_aside, "driver", lambda: Driver(window=bytes_left, kept=2 * bytes_left))
    assert set_aside.l2_window(STREAM) == bytes_left
    assert set_aside.l2_set_aside() == 2 * bytes_left
