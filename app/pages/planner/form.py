"""The planner's form: a model and its numbers, a device, and what is asked of them."""

from collections.abc import Sequence

from msgspec import convert
from msgspec.structs import asdict, replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.look.zoom import keep
from flashscope.app.pages.planner.places import Places
from flashscope.app.pages.profile.form.fields import (
    DECIMALS,
    Decimal,
    Input,
    KvHeads,
    Whole,
    input_of,
    labelled,
)
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.app.words.plain import cut_short
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.choice import choices_of
from flashscope.profiles.plan.models import FAVOURITE, MODELS, Model, Setting
from flashscope.profiles.results.planner.ledger import GIB

HEIGHT_PX, WIDTH_PX, GAP = 30, 84, 8
WIDER_PX = {"memory": 110, "parameters": 110}  # numbers with a unit
MEMORY = 80.0  # GiB, while no GPU is known
CHANGED, AUDITED = ", changed", ", audited"
MOST_LISTED = 40  # letters of the name of an audited model


class PlannerForm(Card):
    """The inputs, made from what Model and Setting declare.

    Attributes:
        inputs: By the names of their fields.

    Signals:
        changed: It says something else.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._filling = True
        declared = {one.name: one for one in (*choices_of(Model), *choices_of(Setting))}
        self.heads, self.kv_heads = Whole(declared["heads"]), KvHeads(declared["kv_heads"])
        self.memory = Decimal(declared["memory"])
        made: dict[str, Input] = {"heads": self.heads, "kv_heads": self.kv_heads, "memory": self.memory}
        self.inputs: dict[str, Input] = {
            name: made[name] if name in made else input_of(one) for name, one in declared.items()
        }
        self.models, self.places = ChoiceBox(), Places()
        self._offered = {model.name: model for model in MODELS}
        self._lay_out()
        self._connect()
        self._show(Setting(memory=MEMORY))
        self.show_model(FAVOURITE)

    @property
    def published(self) -> Model:
        """The model chosen, as it was published, or as an audit found it."""
        return self._offered.get(self.models.currentText(), FAVOURITE)

    def model(self) -> Model:
        """The model with the numbers on show; one that differs from what was published is called changed."""
        names = [one.name for one in choices_of(Model)]
        said = {name: self.inputs[name].chosen() for name in names}
        shown = replace(self.published, **said)
        return shown if shown == self.published else replace(shown, name=shown.name + CHANGED)

    def setting(self) -> Setting:
        """What is asked of it; of a GPU its exact memory."""
        said = {one.name: self.inputs[one.name].chosen() for one in choices_of(Setting)}
        device = self.places.device
        return convert(said | ({"memory": device.memory_bytes / GIB} if device else {}), Setting)

    def show_model(self, model: Model) -> None:
        """Fill in the numbers of a model."""
        self._filling = True
        self.models.setCurrentText(model.name)
        for name, value in asdict(model).items():
            if name in self.inputs:  # heads before those of K and V, which they offer
                self.inputs[name].choose(value)
        self._filling = False
        self._changed()

    def offer_models(self, audited: Sequence[Model]) -> None:
        """Offer these of audits, too, the first of them chosen; none: the published ones alone."""
        offered = {model.name: model for model in MODELS}
        offered |= {model.name: model for model in map(_as_shown, audited)}
        if offered == self._offered:
            return
        before, self._offered = self.published, offered
        new = [name for name in offered if name.endswith(AUDITED)]
        self._filling = True
        self.models.clear()
        self.models.addItems(list(offered))
        self._filling = False
        if new:
            self.show_model(offered[new[0]])
        elif before.name in offered:
            self.models.setCurrentText(before.name)
        else:
            self.show_model(FAVOURITE)

    def offer_devices(self, devices: Sequence[Device]) -> None:
        """Offer the memories of these GPUs."""
        self.places.offer(devices)
        self._show_place(self.places.device)

    def _lay_out(self) -> None:
        self.models.addItems(list(self._offered))
        self.models.setAccessibleName("model")
        set_tip(
            self.models,
            "A published model, or one of an audit on show; choose it again to have its numbers back",
        )
        models = {"model": self.models, **self._of(Model)}
        settings = {"device": self.places, "memory": self.memory, **self._of(Setting)}
        self.body.setSpacing(6)
        for fields in (models, settings):
            parts = [self._part(name, field) for name, field in fields.items()]
            self.body.addWidget(Lines(parts, (), GAP))

    def _of(self, struct: type[Model | Setting]) -> dict[str, QWidget]:
        return {one.name: self.inputs[one.name] for one in choices_of(struct)}

    @staticmethod
    def _part(name: str, field: QWidget) -> QWidget:
        box = labelled(field)
        if isinstance(field, Whole | Decimal):  # as wide as its place, of which it asks for none
            keep(field, field.setMinimumWidth, WIDER_PX.get(name, WIDTH_PX))
        if box is field:  # a box to tick, that says its name itself: in line with the fields beside it
            keep(field, field.setFixedHeight, HEIGHT_PX)
            part = QWidget()
            column = QVBoxLayout(part)
            column.setContentsMargins(0, 0, 0, 0)
            column.addStretch(1)
            column.addWidget(field)
            return part
        return box

    def _connect(self) -> None:
        self.heads.changed.connect(self.kv_heads.offer)
        for field in self.inputs.values():
            field.changed.connect(self._changed)
        self.models.activated.connect(lambda _place: self.show_model(self.published))
        self.places.place_chosen.connect(self._show_place)
        self.memory.changed.connect(self._leave_place)

    def _show(self, setting: Setting) -> None:
        for name, value in asdict(setting).items():
            self.inputs[name].choose(value)

    def _show_place(self, device: Device | None) -> None:
        self._filling = True
        if device is not None:
            self.memory.choose(device.memory_bytes / GIB)
        self._filling = False
        self._changed()

    def _leave_place(self) -> None:
        if not self._filling:
            self.places.leave()
            self._changed()

    def _changed(self, *_: object) -> None:
        if not self._filling:
            self.changed.emit()


def listed_name(audited: Model) -> str:
    """What a model of an audit is called in the list."""
    return f"{cut_short(audited.name, MOST_LISTED)}{AUDITED}"


def _as_shown(audited: Model) -> Model:
    """A model of an audit with its name in the list, and with as many decimals as the form shows."""
    rounded = {name: round(getattr(audited, name), DECIMALS) for name in ("parameters", "weight_bytes")}
    return replace(audited, name=listed_name(audited), **rounded)
