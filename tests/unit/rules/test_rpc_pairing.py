from __future__ import annotations

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    answer,
    call,
    error,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    traffic,
)

OLD = "2025-11-25"


def done(number=1):
    return {**RESULT, "id": number}


# id-reused-while-pending


def test_an_id_is_reused_while_its_request_waits():
    case = traffic(
        exchange(call(1), stream(done(1)), (0, 9)), exchange(call(1), answer(done(1)), (2, 3))
    )
    (found,) = fired(case, "RPC")
    assert (found.rule, found.severity, found.exchange) == ("RPC-004", "warning", 2)


@pytest.mark.parametrize(
    "other",
    [
        {"Authorization": "Bearer another"},
        {"User-Agent": "another/1.0"},
    ],
)
def test_clients_of_another_identity_count_for_themselves(other):
    case = traffic(
        exchange(call(1, headers={"Authorization": "Bearer one"}), stream(done(1)), (0, 9)),
        exchange(
            call(1, headers={"Authorization": "Bearer one", **other}), answer(done(1)), (2, 3)
        ),
    )
    assert not ids(case, "RPC")


def test_an_id_is_free_again_when_its_stream_is_closed():
    gone = {**stream(note("notifications/message", level="info", data=1)), "closed_by": "client"}
    case = traffic(exchange(call(1), gone, (0, 2)), exchange(call(1), answer(done(1)), (3, 4)))
    assert not ids(case, "RPC")


def test_an_id_is_free_again_with_its_response_though_the_stream_goes_on():
    more = note("notifications/message", level="info", data=1)
    case = traffic(
        exchange(call(1), stream(done(1), more), (0, 9)), exchange(call(1), answer(done(1)), (6, 7))
    )
    assert "RPC-004" not in ids(case)


def test_a_number_and_its_text_are_two_ids_but_two_spellings_of_it_one():
    def twice(one, other):
        return traffic(
            exchange(call(one), stream(done(one)), (0, 9)),
            exchange(call(other), answer(done(other)), (2, 3)),
        )

    assert not ids(twice(1, "1"), "RPC")
    assert ids(twice(1, 1.0), "RPC") == ["RPC-004"]


def test_over_stdio_it_is_an_error_until_answer_or_cancellation():
    first, again = message("tools/list", 1), message("prompts/list", 1)
    lines = [line("client", first), line("client", again)]
    (found,) = fired(stdio(*lines), "RPC")
    assert (found.rule, found.severity) == ("RPC-004", "error")
    cancel = line("client", note("notifications/cancelled", requestId=1))
    assert not ids(stdio(lines[0], cancel, lines[1]), "RPC")


# response-does-not-match-request


def test_a_response_with_another_id_is_found():
    (found,) = fired(traffic(exchange(call(7), answer(done("7")))), "RPC")
    assert (found.rule, found.path) == ("RPC-005", "/id")
    assert found.message == 'server answered with id "7", but the request has id 7'
    assert ids(traffic(exchange(call(7), stream(done(8)))), "RPC") == ["RPC-005"]


def test_ones_of_any_spelling_are_the_same_id():
    assert not ids(traffic(exchange(call(1.0), answer(done(1)))), "RPC")
    case = stdio(line("client", message("vendor/x", 1.0)), line("server", result(1)))
    assert not ids(case, "RPC")


def test_true_is_not_one():
    assert "RPC-005" in ids(traffic(exchange(call(1), answer(done(True)))))


def test_a_second_answer_is_found_and_only_that():
    (found,) = fired(traffic(exchange(call(1), stream(done(1), error(1)))), "RPC")
    assert "a second time" in found.message
    found = fired(traffic(exchange(call(1), stream(done(2), done(1), done(1)))), "RPC")
    assert [f.rule for f in found] == ["RPC-005", "RPC-005"]


def test_a_result_without_an_id_is_found_and_an_error_without_one_is_not():
    body = {key: value for key, value in RESULT.items() if key != "id"}
    assert ids(traffic(exchange(call(1), answer(body))), "RPC") == ["RPC-005"]
    for fault in (error(None), {k: v for k, v in error().items() if k != "id"}):
        assert not ids(traffic(exchange(call(1), answer(fault, 400))), "RPC")


def test_a_response_to_a_notification_answers_nothing():
    request = post(note("notifications/cancelled", requestId=1))
    assert "RPC-005" in ids(traffic(exchange(request, answer(done(1)))))
    assert "RPC-005" not in ids(traffic(exchange(request, answer(error(None), 400))))


def test_a_response_to_what_could_not_be_read_may_have_any_id():
    request = post([message("tools/list", 1)])
    assert "RPC-005" not in ids(traffic(exchange(request, answer(error("server-error"), 400))))


def test_over_stdio_an_unknown_id_is_found():
    begin = [line("client", message("vendor/x", 7))]
    assert ids(stdio(*begin, line("server", result("7"))), "RPC") == ["RPC-005"]
    assert ids(stdio(*begin, line("server", result(8))), "RPC") == ["RPC-005"]
    twice = stdio(*begin, line("server", result(7)), line("server", result(7)))
    (found,) = fired(twice, "RPC")
    assert "a second time" in found.message


def test_over_stdio_ids_from_before_the_recording_are_not_known():
    assert not ids(stdio(line("server", result(3))), "RPC")
    begin = [line("client", message("vendor/x", 7))]
    assert not ids(stdio(*begin, line("server", result(6))), "RPC")


def test_over_stdio_a_late_response_to_a_cancelled_request_is_known():
    case = stdio(
        line("client", message("vendor/x", 7)),
        line("client", note("notifications/cancelled", requestId=7)),
        line("server", result(7)),
    )
    assert not ids(case, "RPC")


def test_over_stdio_a_request_in_pieces_may_be_answered():
    pieces = ["{", '"jsonrpc":"2.0","id":9,"method":"vendor/x"', "}"]
    case = stdio(
        line("client", message("vendor/x", 1)),
        *(line("client", piece) for piece in pieces),
        line("server", result(9)),
    )
    assert ids(case, "RPC", "STDIO") == ["STDIO-002"]


# server-initiated-request


def test_a_server_that_asks_by_itself_is_found_in_the_stateless_era():
    pushed = {"jsonrpc": "2.0", "id": 9, **form()}
    (found,) = fired(traffic(exchange(call(1), stream(pushed, done(1)))), "RPC")
    assert (found.rule, found.blame, found.path) == ("RPC-008", "server", "/method")
    case = stdio(line("client", message("vendor/x", 1)), line("server", pushed))
    assert ids(case, "RPC") == ["RPC-008"]


def test_a_server_may_ask_in_a_session_and_before_anything_is_known():
    pushed = {"jsonrpc": "2.0", "id": 9, **form()}
    reply = stream(pushed, result(1, None, content=[]))
    case = traffic(*handshake(), exchange(call(1, headers=SESSION, version=OLD), reply))
    assert not ids(case, "RPC")
    assert not ids(stdio(line("server", pushed)), "RPC")


def test_a_notification_with_an_id_is_not_also_a_request():
    odd = {**note("notifications/message", level="info", data=1), "id": 4}
    assert ids(traffic(exchange(call(1), stream(odd, done(1)))), "RPC") == ["RPC-006"]


# client-sent-response

REPLY = {"jsonrpc": "2.0", "id": 9, "result": {"action": "decline"}}


def test_a_client_that_responds_is_found_in_the_stateless_era():
    (found,) = fired(traffic(exchange(post(REPLY), answer(status=400))), "RPC")
    assert (found.rule, found.blame, found.path) == ("RPC-009", "client", "/result")
    case = stdio(line("client", message("vendor/x", 1)), line("client", REPLY))
    assert ids(case, "RPC") == ["RPC-009"]


def test_a_client_may_respond_in_a_session_and_before_anything_is_known():
    case = traffic(*handshake(), exchange(post(REPLY, SESSION, version=OLD), answer(status=202)))
    assert "RPC-009" not in ids(case)
    assert "RPC-009" not in ids(stdio(line("client", REPLY)))
    begin = handshake()[0]
    mixed = stdio(
        line("client", begin["request"]["body"]),
        line("server", begin["response"]["body"]),
        line("client", message("vendor/x", 1)),
        line("client", REPLY),
    )
    assert "RPC-009" not in ids(mixed)


def test_a_client_may_respond_in_a_session_whatever_its_version_header_says():
    sent = post({"jsonrpc": "2.0", "id": 1, "result": {}}, SESSION)
    case = traffic(*handshake(), exchange(sent, answer(status=202)))
    assert not ids(case, "RPC")
    unknown = traffic(exchange(sent, answer(status=202)))
    assert ids(unknown, "RPC") == ["RPC-009"]


def test_a_session_may_carry_a_response_on_a_stream_that_was_taken_up():
    def carried(number):
        late, own = result(number, None, content=[]), result(2, None, content=[])
        waiting, other = (call(n, headers=SESSION, version=OLD) for n in (1, 2))
        return traffic(
            *handshake(),
            exchange(waiting, stream(open=True), (10, 20)),
            exchange(other, stream(late, own), (11, 14)),
        )

    assert not ids(carried(1), "RPC")
    assert ids(carried(7), "RPC") == ["RPC-005"]
