"""Was the work done, how often, and why did the message come again? Pure functions on whole works; no Spark."""
