"""The Ranks page: one sequence on several GPUs, each scheme beside one GPU with all of it."""

from flashscope.app.pages.ranks.page import RanksPage

__all__ = ["RanksPage"]
