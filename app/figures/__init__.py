"""What plots and reports draw, without Qt: series, ticks, shapes, statuses, spans, lanes."""
