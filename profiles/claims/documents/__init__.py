"""The documents' claims, a module for each document or half of one."""

from flashscope.profiles.claims.documents import (
    blog_gpu,
    blog_memory,
    deck_method,
    deck_results,
    lesson_fast,
    lesson_io,
    lesson_memory,
    overview,
    post,
)
from flashscope.profiles.claims.model import Claim, ClaimSource

DOCUMENTS: tuple[ClaimSource, ...] = (
    ClaimSource("000", "The Problem: Standard Attention is Memory-Bound"),
    ClaimSource("001", "CS 2650: Paper Discussion, FlashAttention"),
    ClaimSource("002", "Flash Attention: Making Transformers Scale"),
    ClaimSource("003", "FlashAttention Through the Years"),
    ClaimSource("004", "Flash Attention Kernel Deep Dive"),
)
"""The five texts, which are not part of this program: they are named, and cited by line."""

_ALL: tuple[Claim, ...] = (
    *overview.CLAIMS,
    *deck_method.CLAIMS,
    *deck_results.CLAIMS,
    *post.CLAIMS,
    *blog_memory.CLAIMS,
    *blog_gpu.CLAIMS,
    *lesson_memory.CLAIMS,
    *lesson_io.CLAIMS,
    *lesson_fast.CLAIMS,
)

CLAIMS: tuple[Claim, ...] = tuple(sorted(_ALL, key=lambda one: (one.document, one.lines, one.part)))
"""Every checkable claim, in the order of the documents and their lines."""
