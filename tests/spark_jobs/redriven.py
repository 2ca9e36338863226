"""A queue to which a move task brought messages back, under new ids: by hand, for one run and for rounds."""

from tests.spark_jobs.small_lake import SmallLake, record, run, some_id

GROUP = "/aws/lambda/parcels"
SETTINGS = r"""
[[function]]
name = "parcels"
effect = 'sent (?P<message_id>\S+)'
"""
MOVED_S, SOON_S, LATE_S = 1000, 1300, 1500
"""The move task begins; a round before might end; the last lines come. Seconds after noon."""


def add_parcels(lake: SmallLake) -> None:
    """Add bodies of which one message or two went to the dead-letter queue, and one came back, soon or late.

    A lone one: ``alone``. Two, of which one goes when the other is back: ``second``. Two from the start, of which late lines
    speak of one and of the one that is back: ``two``. One that comes back late: ``waits``.
    """
    lake.queue("parcels", most=2)
    lines: list[tuple[float, str]] = []

    def went(name: str, body: str, at_s: float) -> None:
        for count, since_s in ((1, 0), (2, 40)):
            taken = record(some_id(name), count, "parcels", body, at_s - 5)
            says = (f"sent {some_id(name)}",)
            lines.extend(run(f"{name} {count}", at_s + since_s, 10, taken, says=says, status="timeout"))

    def came(name: str, body: str, at_s: float) -> None:
        taken = record(some_id(name), 1, "parcels", body, at_s - 1)
        lines.extend(run(f"{name} 1", at_s, 2, taken, says=(f"sent {some_id(name)}",)))

    went("alone", "a", 1)
    went("first", "s", 101)
    went("two one", "t", 201)
    went("two other", "t", 301)
    went("waits", "w", 401)
    came("alone back", "a", MOVED_S + 5)
    came("first back", "s", MOVED_S + 25)
    came("two back", "t", MOVED_S + 45)
    came("by itself", "b", MOVED_S + 100)  # a round reads the last run before it again
    went("second", "s", SOON_S + 1)
    came("waits back", "w", SOON_S + 70)
    for number, name in enumerate(("two one", "two back")):
        says = (f"sent {some_id(name)}",)
        lines.extend(run(f"{name} spoken of", LATE_S + 20 * number, 1, says=says))
    lake.function("parcels", "parcels", *lines)
    lake.redrive("parcels", MOVED_S, LATE_S)
