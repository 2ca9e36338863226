"""Workers' lines between rounds: a stream with new lines is put together again from a moment on that nothing spans.

Nothing that names a message, a business key or a receipt handle stands on both sides of that moment, so what stood before
it stays as it was. Lines shortly before it are read again to know what was open. Where there is no such moment, or what came
turns out to belong to something before it, the whole stream is put together again.
"""

from collections.abc import Callable
from datetime import timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.handlings import (
    LOOK_BACK_ROWS,
    STREAM,
    Handlings,
    each_handling,
    facts_of,
    handle_prefix,
    hashed_name,
    is_nameless_start,
    is_opener,
    is_record,
    messages_by_handle,
    names_of_fact,
    with_consumer,
)
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.writer import Writer

_LOOK_BACK = timedelta(hours=1)
"""So far before the first new line a moment is looked for, and so far before that lines are read again."""

Place = Callable[[DataFrame, DataFrame | None, DataFrame | None], DataFrame]
"""Puts lines together, as ``worker_facts``, given whose receipt handles are and which streams are shared."""


def keep_first(kept: KeptRuns, stated: DataFrame, place: Place) -> Handlings:
    """Put all lines together, and keep what later rounds ask for."""
    kept.add("hints", _hints(stated))
    facts = kept.add("handled", with_consumer(place(stated, None, None)))
    return Handlings(facts, kept.add("handlings", each_handling(facts)))


def keep_on(
    kept: KeptRuns, out: Writer, stated: DataFrame, one_at_a_time: list[str], place: Place
) -> tuple[Handlings, DataFrame]:
    """Put together what new lines bear on; returns also which runs and handlings do not count any more.

    ``stated`` are the new lines. What is told of the others is taken over.
    """
    again = _Again(kept, out, stated, place)
    streams = out.keep("worker_streams", again.streams())
    facts = out.keep("placed", again.placed(streams))
    torn = out.keep("torn_workers", again.torn(streams, facts, one_at_a_time))
    if not torn.isEmpty():
        whole = F.when(F.col("_is_torn").isNull(), F.col("cut_at"))
        marked = streams.join(F.broadcast(torn.withColumn("_is_torn", F.lit(True))), STREAM, how="left")
        streams = out.keep("whole_worker_streams", marked.withColumn("cut_at", whole).drop("_is_torn"))
        facts = out.keep("placed_whole", again.placed(streams))
    gone = again.older.join(F.broadcast(streams), STREAM).where(_is_from_cut("last_at"))
    replaced = kept.replace_also(gone.select("consumer_hash", F.col("consumer").alias("invocation_id"), "log_group"))
    facts = kept.add("handled", facts)
    each = kept.together("handlings", kept.add("handlings", each_handling(facts)))
    return Handlings(facts, each, kept.older("handled")), replaced


class _Again:
    """What a round looks at of workers' lines: new ones, and of the others no more than bears on them."""

    def __init__(self, kept: KeptRuns, out: Writer, stated: DataFrame, place: Place) -> None:
        self.kept, self.out, self.place = kept, out, place
        self.older = kept.older("handlings")
        self.lines = kept.all_of("stated", stated)
        self.new = out.keep("new_facts", facts_of(stated))
        hints = kept.add("hints", _hints(stated))
        self.older_hints = kept.all_of("hints", hints.limit(0))
        self.hints = kept.all_of("hints", hints)
        self.new_hints = hints

    def streams(self) -> DataFrame:
        """Return the streams to put together again: log_group, log_stream, and ``cut_at``, null for their beginning."""
        first = self.new.groupBy(*STREAM).agg(F.min("logged_at").alias("first_at"))
        records = F.broadcast(self.new_hints.where("is_record").select("log_group", "handle").distinct())
        named = self.older_hints.join(records, ["log_group", "handle"], how="left_semi").select(*STREAM)
        cuts = first.select(*STREAM).join(self._cuts(first), STREAM, how="left")
        others = named.distinct().join(F.broadcast(first.select(*STREAM)), STREAM, how="left_anti")
        return cuts.unionByName(others.withColumn("cut_at", F.lit(None).cast("timestamp"))).coalesce(1)

    def _cuts(self, first: DataFrame) -> DataFrame:
        """Return ``cut_at`` of the streams that have one: the last beginning of something that all before was over by."""
        since = F.broadcast(first.withColumnRenamed("first_at", "since"))
        spans = self.older.join(since, STREAM).select(*STREAM, "since", "names", "first_at", "last_at")
        near = spans.where(F.col("last_at") >= F.col("since") - F.lit(_LOOK_BACK))
        points = self.older_hints.join(since, STREAM).where(F.col("handle").isNotNull())
        points = points.select(
            *STREAM,
            "since",
            hashed_name("handle", F.col("handle")).alias("name"),
            F.col("logged_at").alias("first_at"),
            F.col("logged_at").alias("last_at"),
        )
        by_name = spans.withColumn("name", F.explode("names")).drop("names").unionByName(points)
        new = self.new.join(since, STREAM).select(
            *STREAM,
            "since",
            F.explode(names_of_fact()).alias("name"),
            F.col("logged_at").alias("first_at"),
            F.col("logged_at").alias("last_at"),
        )
        near_points = points.where(F.col("last_at") >= F.col("since") - F.lit(_LOOK_BACK))
        asked = near.select(*STREAM, F.explode("names").alias("name"))
        asked = asked.unionByName(near_points.select(*STREAM, "name")).unionByName(new.select(*STREAM, "name"))
        told = by_name.join(F.broadcast(asked.distinct()), [*STREAM, "name"], how="left_semi").unionByName(new)
        spanned = told.groupBy(*STREAM, "name").agg(
            F.first("since").alias("since"), F.min("first_at").alias("first_at"), F.max("last_at").alias("last_at")
        )
        before = Window.partitionBy(*STREAM).orderBy("first_at").rowsBetween(Window.unboundedPreceding, -1)
        over = F.max("last_at").over(before)
        breaks = (
            spanned.withColumn("_over_by", over)
            .where(F.col("_over_by").isNull() | (F.col("_over_by") < F.col("first_at")))
            .where((F.col("first_at") >= F.col("since") - F.lit(_LOOK_BACK)) & (F.col("first_at") <= F.col("since")))
        )
        cuts = breaks.groupBy(*STREAM).agg(F.max("first_at").alias("cut_at"))
        in_jobs = self.hints.where("is_nameless_start").select(*STREAM).distinct()
        may_cut = cuts.join(F.broadcast(in_jobs), STREAM, how="left_anti")
        return self._with_context(self.out.keep("worker_cuts", may_cut))

    def _with_context(self, cuts: DataFrame) -> DataFrame:
        """Return those cuts before which enough lines are read again to know what was open."""
        before = self._near(cuts).where(F.col("logged_at") < F.col("cut_at"))
        facts = before.select(*STREAM, "cut_at", F.explode("facts").alias("fact")).select(*STREAM, "cut_at", "fact.*")
        told = facts.groupBy(*STREAM, "cut_at").agg(
            F.count(F.lit(1)).alias("_facts"), F.max(is_opener()).alias("_opens")
        )
        return told.where((F.col("_facts") >= LOOK_BACK_ROWS) & F.col("_opens")).select(*STREAM, "cut_at")

    def _near(self, streams: DataFrame) -> DataFrame:
        """Return the lines of streams from a while before their cuts on; older files are not opened."""
        since = F.col("cut_at") - F.lit(_LOOK_BACK)
        first, whole = streams.agg(F.unix_micros(F.min(since)), F.count(F.when(since.isNull(), 1))).collect()[0]
        lines = self.lines
        if first is not None and not whole:
            lines = lines.where(F.col("logged_at") >= F.timestamp_micros(F.lit(first)))
        is_near = since.isNull() | (F.col("logged_at") >= since)
        return lines.join(F.broadcast(streams.select(*STREAM, "cut_at")), STREAM).where(is_near)

    def placed(self, streams: DataFrame) -> DataFrame:
        """Return the facts of streams from their cuts on, each with its handling."""
        mine = F.broadcast(streams.select(*STREAM, "cut_at"))
        asked = self.hints.join(mine.select(*STREAM), STREAM, how="left_semi").where(F.col("handle").isNotNull())
        handles = F.broadcast(asked.select("log_group", "handle").distinct())
        records = self.hints.where("is_record").join(handles, ["log_group", "handle"], how="left_semi")
        shared = self.older.where("overtakes").join(mine, STREAM).where(F.col("last_at") < F.col("cut_at"))
        facts = self.place(
            self._near(streams).drop("cut_at"), messages_by_handle(records), shared.select(*STREAM).distinct()
        )
        return with_consumer(facts.join(mine, STREAM).where(_is_from_cut("logged_at")).drop("cut_at"))

    def torn(self, streams: DataFrame, facts: DataFrame, one_at_a_time: list[str]) -> DataFrame:
        """Return the streams whose cut does not hold: something goes on behind it, or several workers are seen only now."""
        cuts = streams.where(F.col("cut_at").isNotNull())
        before = self.older.join(F.broadcast(cuts), STREAM).where(F.col("last_at") < F.col("cut_at"))
        names = facts.join(F.broadcast(cuts.select(*STREAM)), STREAM, how="left_semi")
        names = names.select(*STREAM, F.explode(names_of_fact()).alias("name")).distinct()
        told = before.select(*STREAM, F.explode("names").alias("name"))
        goes_on = told.join(F.broadcast(names), [*STREAM, "name"], how="left_semi").select(*STREAM)
        is_one = F.col("log_group").isin(one_at_a_time)
        seen = facts.where(is_one & F.col("overtakes")).select(*STREAM).distinct()
        seen = seen.join(F.broadcast(before.where("overtakes").select(*STREAM).distinct()), STREAM, how="left_anti")
        late = seen.join(F.broadcast(cuts.select(*STREAM)), STREAM, how="left_semi")
        return goes_on.unionByName(late).distinct()


def _hints(stated: DataFrame) -> DataFrame:
    """Return what other lines may hang on though they do not name a message: receipt handles, and starts that name nothing."""
    return (
        facts_of(stated)
        .where(F.col("receipt_handle").isNotNull() | is_nameless_start())
        .select(
            *STREAM,
            "logged_at",
            "message_id",
            handle_prefix().alias("handle"),
            is_record().alias("is_record"),
            is_nameless_start().alias("is_nameless_start"),
        )
    )


def _is_from_cut(at: str) -> Column:
    return F.col("cut_at").isNull() | (F.col(at) >= F.col("cut_at"))
