"""`peers`: what it says of each package, here and in a recording."""

import json
import platform
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app.cli import main
from flashscope.app.commands import peers
from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.catalogue.releases import RELEASES
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.profiles.plan.machine import Machine
from tests.app.fakes import CPU_MACHINE, GPU, GPU_MACHINE
from tests.end_to_end.program import ROOT

RECORDED = str(ROOT / "assets" / "sessions" / "h200-peers.flashscope")
Captured = pytest.CaptureFixture[bytes]


def hopper(major: int = 9) -> Machine:
    return replace(GPU_MACHINE, devices=(replace(GPU, compute_capability=(major, 0)), *CPU_MACHINE.devices))


def of(package: str, machine: Machine = CPU_MACHINE) -> dict:  # type: ignore[type-arg]
    return peers.peer_document(package, peers.by_package()[package], machine)


def here(monkeypatch: pytest.MonkeyPatch, version: str | None, system: str = "Linux") -> None:
    """Let every package be installed in that version, or none; on Linux or elsewhere."""
    monkeypatch.setattr(KernelSpec, "library_is_here", lambda spec: not spec.extra or version is not None)
    monkeypatch.setattr(peers, "version_of", lambda _package: version if version != "unknown" else None)
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def test_every_peer_is_among_the_packages_and_none_of_our_own_kernels_is() -> None:
    listed = [spec.name for kernels in peers.by_package().values() for spec in kernels]
    assert sorted(listed) == sorted(spec.name for spec in KERNELS if spec.extra is not None)


def test_a_package_that_is_here_has_a_date_only_where_it_is_the_release_that_was_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = RELEASES["flash-attn-4"]
    here(monkeypatch, known.version)
    assert (of("flash-attn-4")["version"], of("flash-attn-4")["built"]) == (known.version, known.built)
    here(monkeypatch, "3.9")
    assert (of("flash-attn-4")["version"], of("flash-attn-4")["built"]) == ("3.9", None)
    here(monkeypatch, "unknown")
    assert (of("flash-attn-4")["installed"], of("flash-attn-4")["version"]) == (True, "unknown")


def test_what_is_missing_comes_with_its_command_and_what_cannot_be_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: Captured
) -> None:
    here(monkeypatch, None)
    peers._print(of("flashinfer-python"))
    said = capfdbinary.readouterr().out.decode()
    assert said.startswith("flashinfer-python: not installed (flashinfer)\n")
    assert "59.2 MiB without what it depends on" in said
    assert 'pip install -e ".[flashinfer-python]"' in said
    here(monkeypatch, None, "Windows")
    peers._print(of("flashinfer-python"))
    said = capfdbinary.readouterr().out.decode()
    assert "cannot be installed here: it is for Linux" in said
    assert "to install" not in said


def test_whether_it_would_run_depends_on_the_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    here(monkeypatch, None)
    assert of("tokenspeed-fa3")["why_not"] == "there is no usable GPU"
    assert of("tokenspeed-fa3", hopper())["why_not"] is None
    assert "up to compute capability 9.0, this GPU has 10.0" in of("tokenspeed-fa3", hopper(10))["why_not"]
    assert of("torch")["runs"] is True  # on the CPU
    assert peers.why_not(find_kernel("torch-cudnn"), CPU_MACHINE) is not None


def test_a_recording_is_told_with_the_versions_it_was_made_with(capfdbinary: Captured) -> None:
    assert main(["peers", RECORDED]) == 0
    assert capfdbinary.readouterr().out.decode().splitlines() == [
        "torch: 2.11.0 (torch-auto, torch-cudnn, torch-efficient, torch-flash, torch-math)",
        "tokenspeed-fa3: 3.0.0.post20260810 (flash-attn-3)",
        "flash-attn-4: 4.0.0b36 (flash-attn-4)",
        "triton: 3.6.0 (triton-flash)",
        "cuDNN: 9.19.0.56",
    ]
    assert main(["peers", RECORDED, "--json"]) == 0
    told = json.loads(capfdbinary.readouterr().out)
    assert Path(told["file"]).name == "h200-peers.flashscope"
    assert told["peers"][2] == {"package": "flash-attn-4", "version": "4.0.0b36", "kernels": ["flash-attn-4"]}


def test_a_recording_without_peers_says_so(capfdbinary: Captured) -> None:
    assert main(["peers", str(ROOT / "assets" / "sessions" / "h200-standard-flash2.flashscope")]) == 0
    assert capfdbinary.readouterr().out.decode() == "it holds no peers, only our own kernels\n"
