import json

import cli
from tests.forensics.balance.test_balance import lake  # noqa: F401 - a fixture
from tests.forensics.report import world


def test_the_balance_names_what_is_unexplained(lake, capsys):  # noqa: F811
    assert cli.main(["balance", "--lake", str(lake.root)]) == 0
    told = capsys.readouterr().out
    rows = [line for line in told.splitlines() if line.startswith(world.QUEUE)]

    assert "1 of 1 days does not balance" in told
    assert len(rows) > 1
    assert "1 to 4 messages left the queue in a way that nothing shows" in told
    assert "payments.fifo: charge-card: the mapping is Disabled." in told
    assert cli.main(["balance", world.QUEUE, "--lake", str(lake.root), "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)

    assert (row["unexplained_low"], row["unexplained_high"], row["filtered_low"]) == (1, 4, None)


def test_a_queue_that_is_not_there_is_one_sentence_and_exit_2(lake, capsys):  # noqa: F811
    assert cli.main(["balance", "mails", "--lake", str(lake.root)]) == 2
    assert "this data version knows no queue 'mails'" in capsys.readouterr().err
