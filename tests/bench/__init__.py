"""The benchmark: correlate generated logs beside the same answers in hand-written DuckDB SQL."""
