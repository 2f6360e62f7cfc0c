from collections.abc import Iterator

import pytest

from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as MessageRecord
from mcp_tap.core.wire import carrier
from mcp_tap.rules.base import ALL, Hit, Hits, Rule
from mcp_tap.rules.engine import MOST_HITS, Engine, silent

MODERN = "2026-07-28"


def flow(*, http: bool = True, band: str = MODERN) -> Flow:
    made = Flow(Exchange(number=4, t=0.0), Run().client("a", 0.0), http=http, upstream="http://x")
    made.band = band  # type: ignore[assignment]
    return made


def message(text: bytes, of: Flow, seq: int = 7) -> Message:
    fields, value = carrier(text)
    record = MessageRecord(seq=seq, t=1.0, sender="client", exchange=4, **fields)
    return Message(record, value, of)


def a_rule(identity: str, judge, on=("request",), **facts) -> Rule:
    return Rule(
        **{
            "id": identity,
            "name": identity.lower(),
            "severity": "error",
            "level": "must",
            "blames": "sender",
            "spec": "",
            "on": on,
            "versions": ALL,
            "transports": ("http", "stdio"),
            "consequence": False,
            "last_resort": False,
            "steady": (),
            "flat": (),
            "judge": judge,
            "page": "A page.",
        }
        | facts
    )


def judged(rules, of: Flow | None = None, steps=None):
    of = of or flow()
    about = message(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', of)
    engine = Engine(rules)
    return engine.judge(of, about, steps or [("request", "tools/call", about)]), about, engine


def says(text: str, **facts):
    return lambda _: Hit(text, **facts)


def test_a_hit_becomes_a_finding_with_all_that_is_known_of_its_place():
    (found,), *_ = judged([a_rule("A-001", says("client did it", path="/params/a~1b"))])
    assert (found.rule, found.severity, found.blame) == ("A-001", "error", "client")
    assert (found.seq, found.t, found.exchange) == (7, 1.0, 4)
    assert (found.path, found.spot, found.method) == ("/params/a~1b", "a/b", "tools/call")


def test_rules_run_only_for_their_trigger_method_band_and_transport():
    rules = [
        a_rule("A-001", says("any request")),
        a_rule("A-002", says("this method"), on=("request tools/call",)),
        a_rule("A-003", says("another method"), on=("request tools/list",)),
        a_rule("A-004", says("a result"), on=("result",)),
        a_rule("A-005", says("legacy"), versions=("2025-11-25",)),
        a_rule("A-006", says("stdio"), transports=("stdio",)),
    ]
    found, *_ = judged(rules)
    assert [f.rule for f in found] == ["A-001", "A-002"]


def test_findings_come_in_the_order_of_ids_whatever_the_order_of_rules():
    found, *_ = judged([a_rule("B-001", says("b")), a_rule("A-002", says("a"))])
    assert [f.rule for f in found] == ["A-002", "B-001"]


def test_a_rule_that_raises_is_a_finding_once_and_costs_nothing_else():
    def broken(_: object) -> Hits:
        raise KeyError("secret")

    rules = [a_rule("A-001", broken), a_rule("A-002", says("fine"))]
    found, about, engine = judged(rules)
    assert [f.rule for f in found] == ["A-002", "TAP-001"]
    assert found[1].blame == "tap"
    assert "A-001" in found[1].message
    assert "secret" not in found[1].message
    again = engine.judge(about.flow, about, [("request", "tools/call", about)])
    assert [f.rule for f in again] == ["A-002"]


def test_a_rule_that_raises_half_way_keeps_what_it_had_found():
    def half(_: object) -> Iterator[Hit]:
        yield Hit("one")
        raise ValueError

    found, *_ = judged([a_rule("A-001", half)])
    assert [f.rule for f in found] == ["A-001", "TAP-001"]


def test_a_consequence_sees_what_fired_before_it():
    def consequence(m: Message) -> Hits:
        return Hit(",".join(sorted(m.fired or ())))

    rules = [a_rule("A-009", consequence, consequence=True), a_rule("A-010", says("x"))]
    found, *_ = judged(rules)
    assert [f.message for f in found] == ["A-010", "x"]


def test_a_last_resort_stays_silent_beside_an_error_but_not_beside_a_note():
    last = a_rule("Z-001", says("last"), last_resort=True)
    found, *_ = judged([last, a_rule("A-001", says("x"))])
    assert [f.rule for f in found] == ["A-001"]
    found, *_ = judged([last, a_rule("A-001", says("x"), severity="note")])
    assert [f.rule for f in found] == ["A-001", "Z-001"]


@pytest.mark.parametrize(("once", "again"), [("client", 0), ("run", 0), (None, 1)])
def test_what_is_to_be_said_once_is_said_once(once, again):
    found, about, engine = judged([a_rule("A-001", says("x", once=once))])
    assert len(found) == 1
    assert len(engine.judge(about.flow, about, [("request", None, about)])) == again


def test_once_a_client_is_once_for_each_client():
    run = Run()
    engine = Engine([a_rule("A-001", says("x", once=("client", "roots")))])
    count = 0
    for name in ("a", "b", "a"):
        of = Flow(Exchange(number=1, t=0.0), run.client(name, 0.0), http=True, upstream="")
        of.band = MODERN
        about = message(b'{"jsonrpc":"2.0","id":1,"method":"x"}', of)
        count += len(engine.judge(of, about, [("request", "x", about)]))
    assert count == 2


def test_one_rule_cannot_bury_the_others_in_findings():
    many = a_rule("A-001", lambda _: (Hit(str(n)) for n in range(10_000)))
    found, *_ = judged([many, a_rule("A-002", says("x"))])
    assert len(found) == MOST_HITS + 1
    assert found[-1].rule == "A-002"


def test_a_hit_about_another_message_stands_at_that_message():
    of = flow()
    other = message(b'{"jsonrpc":"2.0","id":1,"method":"x"}', of, seq=3)
    (found,), *_ = judged([a_rule("A-001", says("x", about=other))], of)
    assert (found.seq, found.method) == (3, "x")


def test_steady_rules_are_not_asked_about_what_is_known():
    asked: list[str] = []
    rules = [
        a_rule("A-001", lambda _: asked.append("a"), steady=("request",)),
        a_rule("A-002", lambda _: asked.append("b"), steady=("request tools/call",)),
        a_rule("A-003", lambda _: asked.append("c")),
        a_rule("A-004", lambda _: asked.append("d"), on=("request tools/call",)),
        a_rule("A-005", lambda _: asked.append("e"), flat=("request",), last_resort=True),
    ]
    engine, of = Engine(rules), flow()
    about = message(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', of)
    engine.judge(of, about, [("request", "tools/call", about)], known=True)
    assert sorted(asked) == ["c", "d", "e"]
    asked.clear()
    assert silent(engine.judges(of, "request", "tools/call"), about)
    assert sorted(asked) == ["c", "d", "e"]
    asked.clear()
    engine.judge(of, about, [("request", "tools/list", about)], known=True)
    assert sorted(asked) == ["b", "c", "e"]
    asked.clear()
    assert silent(engine.judges(of, "request", "tools/call", flat=True), about)
    assert sorted(asked) == ["c", "d"]


def test_rules_with_something_to_say_or_that_fail_are_not_silent():
    of = flow()
    about = message(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', of)
    assert not silent((says("x"),), about)
    assert not silent((lambda m: m.nothing,), about)
    assert silent((lambda _: None,), about)


def test_a_finding_that_may_come_again_is_told_from_one_said_once():
    _, _, engine = judged([a_rule("A-001", says("x"))])
    assert engine.restless
    _, _, engine = judged([a_rule("A-001", says("x", once="client"), severity="note")])
    assert not engine.restless
    _, _, engine = judged([a_rule("A-001", lambda _: None)])
    assert not engine.restless


def test_an_event_is_spared_where_all_its_rules_are_steady():
    rules = [a_rule("A-001", says("x"), on=("head", "closed"), steady=("head",))]
    assert Engine(rules).spares("head")
    assert not Engine(rules).spares("closed")
