"""What an installation adds to Python's own packages: one name, with every folder of Doubletake under it."""
