"""What counts for queue health, settings checks and readiness, counted in columns: plain functions from frames to frames."""
