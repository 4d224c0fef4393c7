"""Presenter mode: a page, a sentence and nothing to work with, for an audience."""
