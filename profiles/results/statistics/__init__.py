"""Statistics of raw samples: medians, intervals, ranks, steadiness."""
