"""Raw log events of a function behind a FIFO queue: those of ``generate``, with message groups that live as long as the history."""

from functools import partial

from tests.bench import generate

GROUP = generate.GROUP
QUEUE = f"{generate.QUEUE}.fifo"
SETTINGS = generate.SETTINGS.replace(f'"{generate.QUEUE}"', f'"{QUEUE}"')

log_events = partial(generate.log_events, queue=QUEUE)
fill = partial(generate.fill, queue=QUEUE)
