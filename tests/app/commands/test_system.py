"""What is said about this machine before Qt is imported."""

import importlib.util
from pathlib import Path

import pytest

from flashscope.app.commands import system


def test_missing_libraries_are_named_by_their_packages_in_one_command() -> None:
    libraries = (("libc6", "libc.so.6"), ("libnone1", "libnone.so.1"), ("libnil2", "libnil.so.2"))
    missing = system.missing_packages(libraries)
    assert missing == ["libnone1", "libnil2"]
    assert system.apt_command(missing) == "sudo apt-get install -y libnone1 libnil2"


def test_missing_libraries_stand_before_a_window_with_the_command_that_brings_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(system, "LIBRARIES", (("libnone1", "libnone.so.1"),))
    reason = system.why_no_window({"QT_QPA_PLATFORM": "offscreen"})
    assert reason is not None
    assert "apt-get install -y libnone1" in reason


def test_missing_python_packages_are_named_with_the_command_that_brings_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    reason = system.why_no_window({})
    assert reason is not None
    assert "PySide6 and pyqtgraph cannot be imported" in reason
    assert "pip install -e ." in reason


def test_no_display_is_needed_off_screen() -> None:
    assert system.platform({"QT_QPA_PLATFORM": "offscreen:fonts=x"}) == "offscreen"
    assert system.why_no_window({"QT_QPA_PLATFORM": "offscreen"}) is None


def test_a_platform_that_qt_does_not_have_is_named_instead_of_an_abort() -> None:
    reason = system.why_no_window({"QT_QPA_PLATFORM": "screenless"})
    assert reason is not None
    assert "no platform 'screenless'" in reason
    assert "unset QT_QPA_PLATFORM" in reason
    assert system.why_no_window({"QT_QPA_PLATFORM": "minimal"}) is None


def test_a_display_that_is_named_but_does_not_answer_is_no_display(tmp_path: Path) -> None:
    environment = {"DISPLAY": ":987", "WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert not system.has_display(environment)
    assert not system.has_display({})
