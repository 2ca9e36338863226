"""What every stand-in for access to AWS has in common."""


class AsModelled:
    """Its replies are as AWS's models say: nothing had to be left out of any."""

    def misfits(self) -> list[str]:
        return []
