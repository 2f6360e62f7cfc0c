from __future__ import annotations

from mcp_tap.core.linking.state import Live, Session, Track
from mcp_tap.core.model import Call, Exchange


def test_state_is_compared_by_identity_so_that_lists_of_it_are_safe():
    exchange = Exchange(number=1, t=0.0)
    assert Live(exchange=exchange) != Live(exchange=exchange)
    assert Session(id="a") != Session(id="a")


def test_no_two_of_them_share_what_they_collect():
    call = Call(number=1, method="m", name=None, t=0.0)
    one, other = (
        Track(call=call, client=(None, None, None), ball="server", since=0.0) for _ in range(2)
    )
    one.known |= {"x"}
    one.asked["x"] = None  # type: ignore[assignment]
    assert other.known == set()
    assert other.asked == {}
