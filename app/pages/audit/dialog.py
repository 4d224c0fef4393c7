"""Where a user names the model that is to be audited, and what of it is to run."""

from pathlib import Path

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons, text_button
from flashscope.app.widgets.number_fields import whole_field
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.learn.audits import CODE_IS_FOR_A_TERMINAL, WHAT_A_MODEL_IS
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.replay import usual_dtype
from flashscope.profiles.wire.audits import AuditAsked

TITLE = "Audit a model"
WIDTH = 560
MOST_BATCH, MOST_TOKENS, MOST_LAYERS = 4096, 1 << 20, 4096
ALL = "all"


class AuditDialog(QDialog):
    """Takes a folder, a configuration's file or a name in the local cache, and how large a step is.

    Args:
        device: Where the model is to run.
        parent: The page.
    """

    def __init__(self, device: Device, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(TITLE)
        self._device = device
        self._make_parts()
        self._lay_out()
        self.resize(min(px(WIDTH), parent.window().width()), 0)
        self._judge()

    @property
    def asked(self) -> AuditAsked:
        """What the model's process is to do."""
        return AuditAsked(
            model=self.model.text().strip(),
            device=self._device,
            dtype=usual_dtype(self._device),
            batch=self.batch.value(),
            seqlen=self.tokens.value(),
            training=self.training.isChecked(),
            layers=self.layers.value() or None,
        )

    def _make_parts(self) -> None:
        self.model = QLineEdit()
        self.model.setAccessibleName("Model")
        self.model.setPlaceholderText("a folder, or a name such as Qwen/Qwen3-8B")
        self.model.textChanged.connect(lambda _text: self._judge())
        self.browse = text_button("Browse …", "Browse for a model's folder", self._browse)
        self.browse.setAutoDefault(False)
        self.batch = whole_field("Sequences", 1, MOST_BATCH, 1)
        self.tokens = whole_field("Tokens of a sequence", 1, MOST_TOKENS, 512)
        self.layers = whole_field("Layers of each part that are built", 0, MOST_LAYERS, 0)
        self.layers.setSpecialValueText(ALL)
        self.training = QCheckBox("take a training step, too, with AdamW")
        self.told = PlainLabel(wordWrap=True)
        self.told.setProperty("role", "error")
        self.buttons = DialogButtons(QDialogButtonBox.StandardButton.Cancel)
        self.audit_button = self.buttons.addButton("Audit", QDialogButtonBox.ButtonRole.AcceptRole)
        self.audit_button.setProperty("role", "primary")
        self.audit_button.setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def _lay_out(self) -> None:
        about = PlainLabel(f"{WHAT_A_MODEL_IS} It runs on {self._device.name}.", wordWrap=True)
        about.setProperty("role", "dim")
        row = QHBoxLayout()
        row.addWidget(self.model, 1)
        row.addWidget(self.browse)
        form = QFormLayout()
        form.addRow("model", row)
        form.addRow("sequences", self.batch)
        form.addRow("tokens of each", self.tokens)
        form.addRow("layers", self.layers)
        form.addRow("", self.training)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addWidget(about)
        column.addLayout(form)
        column.addWidget(self.told)
        column.addWidget(self.buttons)
        column.addStretch(1)

    def _browse(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "Folder of a model", str(Path.home()))
        if chosen:
            self.model.setText(chosen)

    def _judge(self) -> None:
        """Say why what is named cannot be audited here."""
        named = self.model.text().strip()
        why = CODE_IS_FOR_A_TERMINAL if named.rpartition(":")[0].endswith(".py") else ""
        self.told.setText(why)
        self.told.setVisible(bool(why))
        self.audit_button.setEnabled(bool(named) and not why)
        self.resize(self.width(), max(self.height(), self.heightForWidth(self.width())))
