from mcp_tap.core.records import Decision, Gap, Message
from mcp_tap.pipeline.spine import Pipeline
from tests.captures import header


def begun() -> Pipeline:
    pipeline = Pipeline()
    pipeline.feed(header())
    return pipeline


def test_lost_records_are_a_warning_that_says_how_many():
    (found,) = begun().feed(Gap(seq=5, t=1.0, lost=4, why="disk full"))
    assert (found.rule, found.severity, found.blame) == ("TAP-003", "warning", "tap")
    assert found.message == "4 records missing: disk full"
    assert (found.seq, found.exchange, found.call) == (5, None, None)


def test_a_fragment_without_loss_is_nothing():
    assert list(begun().feed(Gap(seq=5, t=1.0, lost=0, why="fragment"))) == []


def test_a_cut_payload_is_a_note():
    record = Message(
        seq=2,
        t=1.0,
        sender="client",
        exchange=1,
        text='{"jsonrpc":',
        truncated=True,
        size=9_000_000,
    )
    *_, found = begun().feed(record)
    assert (found.rule, found.severity) == ("TAP-003", "note")
    assert "client" in found.message


def test_an_ask_the_script_does_not_answer_is_an_error():
    decision = Decision(
        seq=3, t=1.0, hook="answers", verdict="unmatched", why='nothing answers "window"'
    )
    (found,) = begun().feed(decision)
    assert (found.rule, found.severity) == ("TAP-004", "error")
    assert list(begun().feed(Decision(seq=3, t=1.0, hook="tap", verdict="x", why="y"))) == []
