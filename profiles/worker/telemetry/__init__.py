"""The telemetry child: readings of a device, many times a second."""
