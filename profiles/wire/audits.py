"""What is asked of a process that runs a model, and what it answers; JSON, a line each."""

import msgspec

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Dtype

ROUNDS, PROFILES, STEP_CAP_S = 9, 5, 20.0


class AuditAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Run a model's steps.

    Attributes:
        model: A folder with a config.json, a configuration's file, a name in the local cache, FILE.py:NAME.
        device: Where.
        dtype: Of its weights.
        batch: Sequences.
        seqlen: Tokens of the longest.
        lengths: Tokens of each, where they differ.
        context: Tokens before the one that is decoded; None: as many as `seqlen`.
        training: Whether a training step is among the steps.
        layers: How many layers of each part are built; None: all.
        random: Random weights, also where its own are there.
        rounds: Steps that are timed with each implementation, in turns.
        profiles: Steps of each that are profiled.
        cap_s: No round is begun in a phase after so long, but three are made.
    """

    model: str
    device: Device
    dtype: Dtype
    batch: int = 1
    seqlen: int = 512
    lengths: tuple[int, ...] = ()
    context: int | None = None
    training: bool = False
    layers: int | None = None
    random: bool = False
    rounds: int = ROUNDS
    profiles: int = PROFILES
    cap_s: float = STEP_CAP_S


class AuditProgress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """What it is at, in words; `done` of `total` parts are behind it."""

    text: str
    done: int
    total: int


class AuditEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """It is through.

    Attributes:
        audit: What was found; None: nothing was.
        reason: Why not, in a sentence; empty: it was.
        detail: What else is known of that.
        misused: Whether another request would have been right: what was asked for is not there, or no model.
    """

    audit: ModelAudit | None = None
    reason: str = ""
    detail: str = ""
    misused: bool = False


AuditAnswer = AuditProgress | AuditEnded

decode_request: msgspec.json.Decoder[AuditAsked] = msgspec.json.Decoder(AuditAsked)
decode_answer: msgspec.json.Decoder[AuditAnswer] = msgspec.json.Decoder(AuditAnswer)
