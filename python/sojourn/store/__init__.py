"""Results on disk: a directory of Parquet tables and a manifest."""
