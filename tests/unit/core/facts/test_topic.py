from mcp_tap.core.facts import seen
from mcp_tap.core.facts.topic import Topic

EVENTS = {
    "message", "request", "notification", "client_response", "result", "error", "server_request",
    "server_notification", "malformed", "input_required", "retrying", "closed", "line",
}  # fmt: skip


def topics() -> dict[str, type[Topic]]:
    return {**seen._OF_A_CLIENT, **seen._OF_A_RUN}


def test_a_topic_wants_only_events_there_are():
    wanted = {event.split()[0] for topic in topics().values() for event in topic.wants}
    assert wanted <= EVENTS


def test_a_topic_that_wants_to_be_told_of_ends_says_what_it_does_then():
    for name, topic in topics().items():
        if "closed" in topic.wants:
            assert topic.closed is not Topic.closed, name
        if set(topic.wants) - {"closed"}:
            assert topic.note is not Topic.note, name
