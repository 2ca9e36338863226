"""Lists of texts that vectors put together."""

import numpy as np
import polars as pl
import pyarrow as pa


def sorted_together(rows: pl.DataFrame, one: str, several: str) -> pl.Series:
    """Return a value and a list of values (no nulls) of each row as one sorted list without repeats and nulls.

    Most often they are two, or one twice: only the other rows pay for lists that are sorted.
    """
    first = pl.col(several).list.first()
    few = rows.select(low=pl.min_horizontal(one, first), high=pl.max_horizontal(one, first))
    low, high = few["low"], few["high"]
    lengths = low.is_not_null().to_numpy().astype(np.int64) + (low != high).fill_null(False).to_numpy()
    begins = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(np.arange(rows.height), lengths)
    places[begins[:-1][lengths == 2] + 1] += rows.height  # both stand in one series, the higher ones behind
    values = pl.concat([low, high]).gather(places)
    found = pl.Series(
        pl.from_arrow(pa.LargeListArray.from_arrays(pa.array(begins), values.to_arrow().cast(pa.large_string())))
    )
    are_many = rows.select(pl.col(several).list.len().fill_null(0) > 1).to_series()
    if not are_many.any():
        return found
    both = pl.concat_list(pl.concat_list(one), pl.col(several).fill_null(pl.lit([], pl.List(pl.String))))
    every = rows.filter(are_many).select(both.list.drop_nulls().list.unique().list.sort()).to_series()
    return every.gather(are_many.cum_sum().cast(pl.Int64).clip(1) - 1).zip_with(are_many, found)
