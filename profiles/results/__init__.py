"""What a session says: its points as rows, statistics, comparisons, exports."""
