"""Stories for a stage: the files, and the sentences filled from what is on show. No Qt."""
