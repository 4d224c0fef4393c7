"""Every choice that is declared is in the form, in `--help`, in the copied command and in the plan."""

import re
import shlex
from dataclasses import replace
from typing import Annotated

import click
import pytest
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QSpinBox
from pytestqt.qtbot import QtBot

from flashscope.app.commands.arguments import option_of
from flashscope.app.commands.declared.measuring import sweep as sweep_command
from flashscope.app.commands.together import asked_for
from flashscope.app.pages.profile.form.fields import Decimal, OpenDecimal, OpenWhole, input_of
from flashscope.profiles.plan.choice import Choice, Declared, choices_of
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.request import Request
from tests.app.bench import Bench
from tests.app.pages.profile.choices import BESIDE, another

CHOICES = choices_of(Request)
of_each_choice = pytest.mark.parametrize("declared", CHOICES, ids=[declared.name for declared in CHOICES])


def made_with(declared: Declared) -> Request:
    """A request that makes this choice otherwise than it is made by itself."""
    if declared.name == "backend":
        return Request.of("cuda")
    beside = {d.name: another(d) for d in CHOICES if d.name == declared.choice.needs} | BESIDE.get(
        declared.name, {}
    )
    return Request.of("cuda", **beside, **{declared.name: another(declared)})


def test_the_form_shows_every_choice_and_gives_it_back(bench: Bench) -> None:
    form = bench.page.form
    for declared in CHOICES:
        request = made_with(declared)
        form.show_request(request)
        assert form.request() == request, declared.name
        if declared.name in form.inputs:
            shown = form.inputs[declared.name]
            assert declared.choice.help in shown.toolTip().replace("\n", " ")
            assert shown.isVisibleTo(form), declared.name
            named = {label.text() for label in form.findChildren(QLabel)} | {shown.property("text")}
            assert declared.choice.label in named


@of_each_choice
def test_the_help_names_a_choice_with_its_sentence_and_its_default(declared: Declared) -> None:
    told = " ".join(sweep_command.get_help(click.Context(sweep_command)).split())
    entry = told[told.index(declared.choice.flag.replace("/", " / ")) :]
    assert declared.choice.help in entry
    if declared.kind is not bool:
        assert f"[default: {declared.default_text()}]" in entry
    else:
        flag = declared.choice.flag.split("/")[not declared.default].removeprefix("--")
        assert f"[default: {flag}]" in entry


@of_each_choice
def test_a_copied_command_says_a_choice_and_is_read_as_the_same_request(declared: Declared) -> None:
    request = made_with(declared)
    words = request.words()
    assert set(words) & set(declared.choice.flag.split("/"))
    with sweep_command.make_context("sweep", shlex.split(shlex.join(words))) as context:
        assert Request.of(**asked_for(context)) == request


@of_each_choice
def test_a_choice_reaches_the_plan(declared: Declared) -> None:
    request = made_with(declared)
    unchanged = Request.of("cpu" if declared.name == "backend" else request.backend)
    assert request.plan() != unchanged.plan()
    assert Request.of_plan(request.plan()) == request


def test_numbers_have_one_range_in_the_form_and_on_the_command_line(bench: Bench) -> None:
    inputs = bench.page.form.inputs
    numbers = [one for one in CHOICES if isinstance(inputs.get(one.name), QSpinBox | QDoubleSpinBox)]
    assert {one.name for one in numbers} >= {"batch", "heads", "head_dim", "seed", "repeats", "time_cap_s"}
    for declared in numbers:
        shown, low, high = inputs[declared.name], declared.choice.low, declared.choice.high
        assert isinstance(shown, QSpinBox | QDoubleSpinBox)
        opened = isinstance(shown, OpenDecimal | OpenWhole)  # where 0 stands for none
        assert (shown.minimum(), shown.maximum()) == (0 if opened else low, high)
        for inside in (low, high):
            assert declared.read(declared.write(declared.kind(inside))) == inside
        for outside in (low - 1, 2 * high + 1):
            with pytest.raises(ValueError, match=r"from|to"):
                declared.read(f"{outside:.0f}")


def test_the_protocol_of_a_request_that_says_nothing_is_the_protocol() -> None:
    assert Request.of("cpu").protocol == Protocol()
    assert Protocol().drift_check


class Warmer(Protocol, frozen=True, kw_only=True):
    """A protocol with one choice more."""

    soak_s: Annotated[
        float,
        Choice(
            label="soak", help="Keep the device busy first", flag="--soak", metavar="S", high=60, unit="s"
        ),
    ] = 2.5


def test_one_declaration_makes_input_option_help_and_words(qtbot: QtBot) -> None:
    *others, soak = choices_of(Warmer)
    assert others == list(choices_of(Protocol))
    made = input_of(soak)
    qtbot.addWidget(made)
    assert isinstance(made, Decimal)
    made.choose(1.25)
    assert made.chosen() == 1.25
    assert made.accessibleName() == "soak"
    assert made.toolTip() == "Keep the device busy first (0 to 60 s)"
    option = option_of(soak)
    assert option.opts == ["--soak"]
    assert re.search(r"Keep the device busy first +\[default: 2.5 s\]", option.help or "")
    assert soak.command_words(1.25) == ["--soak", "1.25"]
    assert soak.read("1.25") == 1.25


def test_a_choice_of_a_type_that_the_form_does_not_know_is_refused(qtbot: QtBot) -> None:
    (kernels,) = (declared for declared in CHOICES if declared.name == "kernels")
    with pytest.raises(TypeError, match="no input for kernels"):
        input_of(replace(kernels))
