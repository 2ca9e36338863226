"""Items linked to one another, directly or through others: who belongs together."""

Key = tuple[str, str]
"""Queue ARN and item id."""


class Links:
    """Items that are linked; the smallest of those that belong together names them."""

    def __init__(self) -> None:
        self._lower: dict[Key, Key] = {}

    def join(self, one: Key, other: Key) -> None:
        """Link two items."""
        low, high = sorted((self.smallest(one), self.smallest(other)))
        if low != high:
            self._lower[high] = low

    def smallest(self, key: Key) -> Key:
        """Return the smallest item that an item is linked to, itself where there is none."""
        lower = self._lower
        while (next_lower := lower.get(key)) is not None:
            if (further := lower.get(next_lower)) is not None:
                lower[key] = further  # next time the way is shorter
            key = next_lower
        return key
