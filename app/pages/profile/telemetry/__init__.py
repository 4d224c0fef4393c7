"""The telemetry of a session: lanes on one time axis, one a quantity, of each device that measured."""
