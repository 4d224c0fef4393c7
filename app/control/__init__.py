"""What pages talk to: the controller, actions, settings."""
