"""The planner's findings in words: every figure a ledger's, a measurement's, or called a forecast."""

from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import bytes_text, ms_text, thousands
from flashscope.profiles.plan.seqlens import LONGEST
from flashscope.profiles.results.planner.crossing import Crossing, RecordedCrossing
from flashscope.profiles.results.planner.forecast import Forecast
from flashscope.profiles.results.planner.ledger import WEIGHTS, Ledger
from flashscope.profiles.results.planner.outlook import Outlook, Prospect

NOTHING = "-"
NOT_RECORDED = (
    "The session has no N at which standard and a tiled kernel both ran the forward pass with as many query"
    " rows as keys, on sequences of one length without pages."
)


def outlook_summary(found: Outlook) -> str:
    """How long a context fits with S and P in memory and without: the page's first sentence."""
    model, setting = found.model, found.setting
    room = f"the {bytes_text(found.capacity)} of {found.place}"
    parts = [_fits(one) for one in (found.standard, found.tiled)]
    weights = next((one.ledger.weights.nbytes for one in found.prospects if one.ledger), 0)
    beside = f", beside {bytes_text(weights)} of weights" if weights else ""
    if weights > found.capacity:
        return (
            f"{model.name}: no context fits, the weights alone take {bytes_text(weights)}, more than {room}."
        )
    held = ", every layer's attention at once" if setting.every_layer else ""
    return (
        f"{model.name}, batch {setting.batch}, {setting.dtype}{held}: in {room}{beside}, {'; '.join(parts)}."
        f"{_own_limit(found)}"
    )


def outlook_headline(found: Outlook) -> str:
    """The same in a line or two, for an audience."""
    fit = [
        f"{one.kernel} fits {thousands(one.longest.tokens)}" if one.longest else f"{one.kernel} fits none"
        for one in (found.standard, found.tiled)
    ]
    return f"{found.model.name} in {bytes_text(found.capacity)}: {', '.join(fit)} tokens."


def _own_limit(found: Outlook) -> str:
    """The context that the model is made for, where more would fit."""
    own = found.model.own_context
    most = max((one.longest.tokens for one in found.prospects if one.longest), default=0)
    return f" The model itself is made for {thousands(own)} tokens." if own and own < most else ""


def _fits(one: Prospect) -> str:
    name = "standard attention" if one.kernel == "standard" else one.kernel
    if one.longest is None:
        return f"{name} does not run ({one.reason})"
    bound = bound_text(one)
    article = "the " if bound.endswith((WEIGHTS, "cache")) else ""
    return f"{name} fits {tokens_text(one.longest.tokens)} tokens, bound by {article}{bound}"


def tokens_text(tokens: int) -> str:
    """A number of tokens, exactly; at the planner's end it may be more."""
    return f"at least {thousands(tokens)}" if tokens == LONGEST else thousands(tokens)


def bound_text(one: Prospect) -> str:
    """What takes most where the context gets too long."""
    return one.longest.binds if one.longest else NOTHING


def layers_text(held: Ledger) -> str:
    """How many layers the attention is held of."""
    return "one layer" if held.layers == 1 else f"all {held.layers} layers"


def forecast_error_text(forecast: Forecast | None) -> str:
    """The error of a forecast, and whether it is of another shape, which the error does not cover."""
    if forecast is None:
        return NOTHING
    error = "error unknown" if forecast.high is None else f"± {100 * (forecast.high / forecast.ms - 1):.2g}%"
    return f"{error}, of another shape" if forecast.differs else error


def time_text(forecast: Forecast | None, layers: int = 1) -> str:
    """A forecast of so many layers, marked as one; its error stands beside it."""
    return NOTHING if forecast is None else f"≈ {ms_text(forecast.ms * layers)}"


def forecast_text(forecast: Forecast, layers: int) -> str:
    """A forecast of one layer and of all, with the error of both."""
    one, all_of_them = time_text(forecast), time_text(forecast, layers)
    return f"{one} a layer, {all_of_them} in {layers} layers ({forecast_error_text(forecast)})"


def forecast_tip(one: Prospect, layers: int) -> str:
    """What a forecast is told from, or why there is none."""
    told = one.forecast
    if told is None:
        return one.reason or f"No forecast: {one.silent}."
    outside = f" The error does not cover {', '.join(told.differs)}." if told.differs else ""
    return (
        f"Forecast, not measured: {forecast_text(told, layers)}. From {one.kernel} at N = {told.seqlen}, "
        f"{told.measured}, by its work, which grows with N².{outside} Points are single runs: power may slow "
        "down what runs for long."
    )


def source_text(found: Outlook, badge: str) -> str:
    """Which session forecasts are from, or that they are from none."""
    badge = cut_short(badge, MOST_OF_NAME)
    if not any(one.forecast for one in found.prospects):
        return f"There is nothing in {badge} to forecast from; hover a dash to see why."
    return f"Forecast from the nearest measured points of {badge}; hover a forecast to see which."


def ledger_tip(held: Ledger) -> str:
    """Every term of a ledger, in bytes."""
    lines = [f"{term.name}: {thousands(term.nbytes)} bytes" for term in held.terms if term.nbytes]
    return "\n".join([*lines, f"in all: {thousands(held.total)} bytes"])


def crossing_text(tiled: str, found: Crossing) -> str:
    """Where a tiled kernel overtakes standard, as far as it was measured."""
    first, last = found.measured[0], found.measured[-1]
    if found.high is None:
        return f"{tiled} is not faster than standard at the longest N measured, {thousands(last)}."
    if found.high == first:
        return f"{tiled} is faster than standard at every N measured, from {thousands(first)} on."
    if found.low is None:
        from_here = f"from N = {thousands(found.high)} on"
        return f"{tiled} is faster than standard {from_here}; below, they are as fast, or swap."
    between = f"between N = {thousands(found.low)} and {thousands(found.high)}"
    if not found.clear:
        return f"{tiled} overtakes standard {between}; within that they are as fast, or swap."
    return f"{tiled} overtakes standard {between}, both measured."


def recorded_text(found: RecordedCrossing) -> str:
    """The same of the points of a session, and at which shape they were measured."""
    return f"{crossing_text(found.tiled, found.crossing)} On record at {found.shape}."
