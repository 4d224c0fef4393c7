"""Every plot; axes, colours and units from one place."""
