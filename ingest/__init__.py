"""AWS to evidence: one file per source. Reads only; never receives a message."""
