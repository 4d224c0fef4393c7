"""What commands print of sessions: tables, and how far a sweep is."""
