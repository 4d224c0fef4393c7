"""What a speaker checks before the talk: the story, the screen and the machine."""
