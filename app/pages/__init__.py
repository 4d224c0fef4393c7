"""The pages of the window, a room each, and what all of them are; `registry` has the views that show them."""
