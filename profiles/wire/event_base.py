"""What every event is: an immutable message with a tag."""

import msgspec


class EventBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of every event."""
