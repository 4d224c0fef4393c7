"""The commands about versions of a kernel of one's own: watching its file, comparing two of them."""
