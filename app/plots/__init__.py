"""The plots, one file each; axes, colours and units from one place."""
