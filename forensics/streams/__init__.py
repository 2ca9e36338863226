"""From the lines of one log stream to who got which message: invocations, handlings, deliveries. Pure; no Spark.

Times are whole microseconds since 1970, UTC, as the lake's Parquet files hold them; ``_ms`` and ``_s`` are durations or, in
what SQS printed, milliseconds since 1970.
"""
