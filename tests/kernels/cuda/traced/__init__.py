"""Tests of the builds of backward passes that record their state."""
