"""What a session says in the end: its sentence, ratios, trends, agreement with other instruments."""
