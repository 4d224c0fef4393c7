"""What a session keeps as one value each, its traces and timelines: every part is checked as it is read."""
