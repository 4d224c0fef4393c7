"""A kernel of one's own that is measured at each save of its file: saves, versions, and what drives them."""
