"""What pages talk to: the controller, the sweeps that wait, what is on show, actions, settings."""
