"""A session in formats that other programs read: CSV, JSON, Parquet, Perfetto."""
