from forensics.report.evidence_lines import evidence_lines


def test_cited_log_lines_and_calls_are_shown_without_bodies():
    log = {
        "evidence_id": "log:1",
        "logged_at": None,
        "log_group": "g",
        "log_stream": "s",
        "line": 'a body="4111 1111" b',
    }
    (shown,) = evidence_lines({"log_events": [log]})

    assert shown.text == 'a body="[body removed]" b'


def test_lines_are_labelled_in_time_order_and_a_row_without_time_comes_last():
    rows = {"consumers": [{"evidence_id": "consumer:1", "queue_name": "q"}]}
    rows["quarantine"] = [{"evidence_id": "quarantine:1", "collected_at": None, "reason": "bad", "head": "<x>"}]

    assert [line.label for line in evidence_lines(rows)] == ["E1", "E2"]
