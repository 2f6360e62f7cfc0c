"""Where names of secrets may stand."""

from __future__ import annotations

import time

import pytest

from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_names import OAUTH_FIELDS, folded_all
from mcp_tap.core.redact_specs import parse_specs
from mcp_tap.core.redact_spots import LONG, Where
from mcp_tap.core.wire import UNPARSED, loads

FIELDS = folded_all(OAUTH_FIELDS)
FILL = "lorem ipsum, " * (LONG // 10)


def clean(text: str, *specs: str, fields: frozenset[str] = FIELDS) -> bool:
    return Where(parse_specs(specs)).is_clean((FILL + text).encode(), fields)


@pytest.mark.parametrize(
    "text",
    [
        '{"access_token":"x"}',
        '{"Access-Token" : "x"}',
        '{"to\\u006ben":"x"}',
        '{"to\u212aen":"x"}',
        "a=1&code=x",
        "c%6Fde=x",
        "%2563ode=x",
        "to%E2%84%AAen=x",
        "cod%65=x",
        "next=https%3A%2F%2Fh%3Fid_token%3Dx",
        "a[token]=x",
        "password+=x",
        'CONTENT-Disposition: form-data; name="x"',
    ],
)
def test_a_name_is_seen_in_each_of_its_spellings(text):
    assert not clean(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"name":"token"}',
        "a code, a token: a secret",
        '<a class="code" href="?q=%D0%9F&page=2">',
        "decode(x)",
        "a=b&c=d%20e",
        "bin %4a=",
    ],
)
def test_what_names_nothing_is_clean(text):
    assert clean(text)


def test_what_is_short_is_not_looked_through_first():
    assert not Where(parse_specs([])).is_clean(b"plain", FIELDS)
    assert Where(parse_specs([])).spots("plain", FIELDS) is None


def test_names_asked_for_are_seen_too():
    assert not clean('{"pin":1}', "key:pin", fields=frozenset())
    assert not clean('{"p\\u0069n":1}', "path:$.a.pin", fields=frozenset())
    assert clean('{"tip":1}', "key:pin", fields=frozenset())


@pytest.mark.parametrize("spec", ["key:*pin*", "path:$..*", "value:[0-9]+", "key:pin2"])
def test_where_any_name_may_be_meant_nothing_is_clean(spec):
    assert not clean("", spec, fields=frozenset())


def test_spots_of_each_kind_are_told_apart():
    text = FILL + '"code": "x" a=1&token=y Content-Disposition: z'
    spots = Where(parse_specs([])).spots(text, FIELDS)
    assert spots is not None
    assert [text[at : at + 6] for at in spots.keys] == ['"code"']
    assert [text[start:end] for start, end in spots.pairs] == ["token="]
    assert spots.parts


def test_many_spots_are_all_found():
    text = '"code": 1, ' * 2000
    spots = Where(parse_specs([])).spots(text, FIELDS)
    assert spots is not None
    assert len(spots.keys) == 2000


@pytest.mark.parametrize(
    "piece", [b'<a id="x" href="/y?q=z&p=2">w</a>\n', b'"a":"b",{"c":', b"level=info m=x ", b'""']
)
def test_a_megabyte_of_what_is_clean_takes_no_time_to_speak_of(piece):
    payload = piece * ((1 << 20) // len(piece))
    redactor = Redactor(b"k")
    redactor.other(payload[: 2 * LONG], UNPARSED, "text/html")  # the pattern is made once
    start = time.process_time()
    assert redactor.other(payload, UNPARSED, "text/html") == (payload, UNPARSED, [])
    assert time.process_time() - start < 0.03  # 2 ms; looking everywhere takes 100 and more


def test_json_without_names_is_given_back_itself():
    payload = b"[" + b'{"name":"token"},' * LONG + b"1]"
    value = loads(payload)
    assert Redactor(b"k").other(payload, value, "application/json")[1] is value


@pytest.mark.parametrize("run", ["x" * 5000, "x" * 200 + "=y" * 2000, "[a]" * 2000, '\\"' * 3000])
def test_what_is_around_a_spot_is_looked_at_to_its_edges(run):
    for text in (f"{run}&token=s1;{run} code=s2", f'{run}\\"code":"s1", "token":"s2"'):
        short = Redactor(b"k", specs=["key:*none"])  # a glob: it looks everywhere
        assert Redactor(b"k").other(text.encode(), UNPARSED, "") == short.other(
            text.encode(), UNPARSED, ""
        )
