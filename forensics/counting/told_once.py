"""Lines that say of a message what another of the same moment says: ``forensics.streams.once`` for frames."""

import polars as pl

_STATEMENT = ("run", "at", "message_id", "says", "is_own", "besides", "effect_key", "started_key")
"""What tells two lines of known shapes apart (``forensics.streams.shapes.Shape``)."""


def told_once(said: pl.DataFrame) -> pl.DataFrame:
    """Leave out lines of functions, in no order, that repeat one of their run, moment and message.

    ``place`` is that in the file; ``is_again``: another one may say the same, so that most are not compared.
    """
    may_repeat = pl.col("is_again") & pl.col("message_id").is_not_null()
    repeated = said.filter(may_repeat).sort("place")
    return pl.concat([said.filter(~may_repeat), repeated.unique(_STATEMENT, keep="first", maintain_order=True)])
