"""Devices of another machine: a host that serves them, and the engine that measures there from here."""
