"""What every test may use: one Spark session for the whole run."""

import pytest


@pytest.fixture(scope="session")
def spark():
    """One Spark session on two threads, shared by every test that needs it."""
    from spark_jobs.session import spark_session

    session = spark_session("local[2]", few_lines=True)
    session.conf.set("spark.sql.shuffle.partitions", "4")
    yield session
    session.stop()
