"""The shared core: what a table, a log line, a cause and a verdict are."""
