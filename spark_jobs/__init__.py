"""Spark jobs: evidence tables in, findings tables out; one transform per findings table."""
