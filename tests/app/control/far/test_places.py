"""Which devices of several hosts can measure together, and what chooses them on a command line."""

from typing import TYPE_CHECKING

import pytest

from flashscope.app.control.far.places import (
    HostDevices,
    TakenDevices,
    Wanted,
    groups_there,
)
from flashscope.app.words.devices.far_devices import host_labels, hosts_text, kind_of
from flashscope.profiles.cluster.calls import Described, Versions
from tests.app.fakes import GPU_MACHINE, FakeEngine

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.client.devices import FarDevice

pytestmark = pytest.mark.cluster
H100, L4 = "NVIDIA H100", "NVIDIA L4"
FIRST, BOTH = (f"GPU 0, {H100}",), (f"GPU 0, {H100}", f"GPU 1, {H100}")
VERSIONS = Versions(flashscope="1", python="3.11", distributed="1", msgspec="1", messages="1")


def lent(host: str, *kinds: str) -> "tuple[FarDevice, ...]":
    """What a host lends: GPUs of these kinds, each with a UUID that tells its host."""
    from flashscope.profiles.cluster.client.devices import FarDevice  # noqa: PLC0415 - imports Dask

    told = Described(host=host, backend="cuda", memory_bytes=80 << 30, versions=VERSIONS)
    return tuple(
        FarDevice(f"GPU {number}, {kind}", told, "", f"GPU-{host}-{number}")
        for number, kind in enumerate(kinds)
    )


SEEN = {"lab.connection": ("lab", H100, H100), "den.connection": ("den", H100, L4)}


def test_equal_devices_are_grouped_on_each_host_and_over_all_of_them() -> None:
    groups = groups_there({named: lent(*told) for named, told in SEEN.items()})
    assert [(group.host, group.alike, len(group.devices)) for group in groups] == [
        ("lab", True, 2),
        ("den", False, 2),
        ("lab and den", True, 3),
        ("lab and den", False, 4),
    ]
    equal = groups[2]
    assert equal.names == (
        "GPU 0 on lab, NVIDIA H100",
        "GPU 1 on lab, NVIDIA H100",
        "GPU 0 on den, NVIDIA H100",
    )
    assert [one.devices for one in equal.wanted().hosts] == [
        ("GPU 0, NVIDIA H100", "GPU 1, NVIDIA H100"),
        ("GPU 0, NVIDIA H100",),
    ]


def taken(*hosts: tuple[str, tuple[str, ...]]) -> TakenDevices:
    """These devices of hosts, each of which lends two H100s."""
    wanted = Wanted(tuple(HostDevices(f"{host}.connection", names, host) for host, names in hosts))
    found = {f"{host}.connection": lent(host, H100, H100) for host, _ in hosts}
    return TakenDevices(wanted, FakeEngine(print), found=found)


def test_a_command_line_names_all_hosts_and_the_gpus_by_uuid_where_not_all_are_meant() -> None:
    connects = ("--connect", "lab.connection", "--connect", "den.connection")
    assert taken(("lab", BOTH), ("den", BOTH)).options == connects
    some = taken(("lab", BOTH), ("den", FIRST))
    assert some.options == (*connects, "--devices", "GPU-lab-0,GPU-lab-1,GPU-den-0")
    assert taken(("lab", FIRST)).options == ("--connect", "lab.connection", "--devices", "GPU 0")


def test_the_cpu_is_refused_only_where_devices_share_one() -> None:
    assert taken(("lab", FIRST), ("den", FIRST)).why_not_on("cpu", GPU_MACHINE) == ""
    assert "would share one" in taken(("lab", BOTH), ("den", FIRST)).why_not_on("cpu", GPU_MACHINE)


def test_hosts_of_one_name_are_told_apart_by_what_leads_there() -> None:
    assert host_labels({"/x/a.connection": "lab", "tls://lab:8786": "lab", "c": "den"}) == {
        "/x/a.connection": "a",
        "tls://lab:8786": "lab:8786",
        "c": "den",
    }
    assert hosts_text(["lab", "den"]) == "lab and den"
    assert hosts_text(["lab", "den", "attic"]) == "3 hosts"


def test_the_cpus_of_hosts_that_have_joined_are_of_one_kind() -> None:
    assert kind_of("the CPU on lab2") == kind_of("the CPU")
