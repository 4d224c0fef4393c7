"""What a session keeps as one value each, its traces for one: every part is checked as it is read."""
