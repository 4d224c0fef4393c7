"""The user's own presets: kept in a file of the user's own, which nothing in it can spoil."""

import json
import stat
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.control.presets import Presets, PresetsError, made_preset
from flashscope.app.control.settings import Settings
from flashscope.profiles.plan.request import Request

REQUEST = Request.of("cpu", heads=3, causal=True, seqlens=(128, 256))


@pytest.fixture
def presets(qapp: QApplication) -> Presets:
    return Presets()


def names(presets: Presets) -> list[str]:
    return [one.name for one in presets.all()[0]]


def test_a_preset_is_kept_for_the_user_alone_and_found_by_any_other_window(
    presets: Presets, home: Path
) -> None:
    presets.keep(made_preset("Mine", REQUEST, 5))
    assert presets.path == home / "presets.json"
    assert stat.S_IMODE(presets.path.stat().st_mode) == 0o600
    found = Presets().find("mine")
    assert found is not None
    assert (found.name, found.request, found.runs) == ("Mine", REQUEST, 5)


def test_two_windows_lose_nothing_of_one_another(presets: Presets) -> None:
    other = Presets()
    presets.keep(made_preset("b", REQUEST, 1))
    other.keep(made_preset("A", REQUEST, 1))
    presets.drop("none of these")
    assert names(presets) == names(other) == ["A", "b"]


def test_a_preset_is_renamed_but_to_no_name_that_another_has(presets: Presets) -> None:
    presets.keep(made_preset("a", REQUEST, 1))
    presets.keep(made_preset("b", REQUEST, 1))
    with pytest.raises(PresetsError, match="called b; choose another name"):
        presets.rename("a", "B")
    presets.rename("a", "A")
    presets.rename("b", "c")
    assert names(presets) == ["A", "c"]


def test_a_preset_that_this_version_does_not_know_keeps_its_place_with_the_reason(presets: Presets) -> None:
    presets.keep(made_preset("good", REQUEST, 1))
    held = json.loads(presets.path.read_text())
    strange = {"name": "strange", "runs": 2, "choices": {"backend": "cpu", "kernels": "flash9"}, "more": 1}
    held["presets"] += [strange, {"name": "many", "runs": 99, "choices": {"backend": "cpu"}}]
    presets.path.write_text(json.dumps(held))
    reasons = {one.name: one.reason for one in presets.all()[0]}
    assert reasons["good"] == ""
    assert "flash9" in reasons["strange"]
    assert reasons["many"] == "its runs are no number from 1 to 20"
    presets.drop("many")
    assert strange in json.loads(presets.path.read_text())["presets"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not JSON", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("{}", "it holds no list of presets"),
        ('{"format": 1, "presets": [{}]}', "a preset in it has no name"),
        ("x" * (1 << 21), "it is larger than 1 MiB"),
    ],
    ids=["text", "deep", "empty", "nameless", "large"],
)
def test_a_broken_file_is_explained_and_moved_aside_before_another_is_written(
    presets: Presets, text: str, reason: str
) -> None:
    presets.path.parent.mkdir(parents=True)
    presets.path.write_text(text)
    found, trouble = presets.all()
    assert found == ()
    assert reason in trouble
    aside = Path(presets.keep(made_preset("new", REQUEST, 1)))
    assert aside.name == "presets-unreadable.json"
    assert aside.read_text() == text
    assert names(presets) == ["new"]


def test_a_newer_file_is_left_as_it_is(presets: Presets) -> None:
    presets.path.parent.mkdir(parents=True)
    presets.path.write_text('{"format": 2, "presets": []}')
    assert "newer Flashscope" in presets.all()[1]
    with pytest.raises(PresetsError, match="stays as it is"):
        presets.keep(made_preset("new", REQUEST, 1))
    assert presets.path.read_text() == '{"format": 2, "presets": []}'


def test_a_folder_that_cannot_be_written_is_said(presets: Presets) -> None:
    presets.path.parent.parent.mkdir(parents=True, exist_ok=True)
    presets.path.parent.write_text("a file where the folder should be")
    with pytest.raises(PresetsError, match="cannot be kept in"):
        presets.keep(made_preset("new", REQUEST, 1))


def test_what_the_form_said_last_is_remembered_for_each_backend(qapp: QApplication) -> None:
    settings, cuda = Settings(), Request.of("cuda", heads=5)
    settings.keep_form(cuda, 2)
    settings.keep_form(REQUEST, 3)
    again = Settings()
    assert again.form_backend == "cpu"
    assert again.form("cpu") == (REQUEST, 3)
    assert again.form("cuda") == (cuda, 2)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"runs": 1, "choices": {"backend": "cuda"}}', '{"runs": "x"}']
)
def test_what_the_settings_do_not_know_of_the_form_is_as_if_nothing_had_been_said(
    qapp: QApplication, text: str
) -> None:
    settings = Settings()
    settings._store.setValue("form/cpu", text)
    assert settings.form("cpu") is None
