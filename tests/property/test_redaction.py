"""Masking: nothing secret is left, equal stays equal, and masking twice changes nothing."""

from __future__ import annotations

import json
import string
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mcp_tap.core.records import Body, HttpRequest, Message, encode
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_names import OAUTH_FIELDS, SECRET_PARAMETERS
from mcp_tap.core.redact_spots import LONG
from mcp_tap.core.wire import UNPARSED, carrier, loads

KEY = b"k" * 32
# A prefix no other text here can hold, so that finding it means that something leaked.
SECRETS = st.text(
    string.ascii_letters + string.digits + '-._~ +/=%&;?"\\\n\u0436', max_size=40
).map(lambda text: "SeCrEt" + text)
LEAK = b"SeCrEt"
PLAIN = st.text('abc "\\\u0436', max_size=10)
NAMES = st.sampled_from(["a", "b", "params", "nested"])
SECRET_NAMES = st.sampled_from(sorted(OAUTH_FIELDS))


def documents(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)
        ),
        max_leaves=6,
    )


WITH_SECRETS = st.recursive(
    st.dictionaries(SECRET_NAMES, SECRETS, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2), st.dictionaries(NAMES, inner, max_size=2)
    ),
    max_leaves=4,
)


def masked(redactor: Redactor, payload: bytes, content_type: str = "application/json") -> bytes:
    try:
        value = loads(payload)
    except ValueError:
        value = UNPARSED
    return redactor.other(payload, value, content_type)[0]


def line(payload: bytes, masks=()) -> bytes:
    fields, _ = carrier(payload)
    return encode(Body(seq=1, t=0.0, sender="server", masked=list(masks), **fields))


@given(WITH_SECRETS, st.booleans())
def test_no_oauth_secret_is_left_of_any_document(document, spaced):
    payload = json.dumps(document, indent=1 if spaced else None, ensure_ascii=False).encode()
    out, value, masks = Redactor(KEY).other(payload, loads(payload), "application/json")
    assert LEAK not in line(out, masks)
    assert value == loads(out)


@given(WITH_SECRETS, st.floats(0, 1), st.booleans())
def test_no_oauth_secret_is_left_of_a_document_cut_anywhere(document, part, ascii_only):
    payload = json.dumps(document, ensure_ascii=ascii_only).encode()
    prefix = payload[: int(len(payload) * part)]
    out, _, masks = Redactor(KEY).other(prefix, UNPARSED, "application/json")
    assert LEAK not in line(out, masks)


@given(WITH_SECRETS, st.floats(0, 1))
def test_a_redacted_key_is_left_of_no_message_cut_anywhere(document, part):
    payload = json.dumps({"jsonrpc": "2.0", "params": document}).encode()
    for spec in ("key:*", "path:$..*"):
        redactor = Redactor(KEY, default=False, specs=[spec])
        out, _, _ = redactor.message(payload[: int(len(payload) * part)], UNPARSED)
        assert LEAK not in out
        out, _, _ = redactor.message(payload, loads(payload))
        assert LEAK not in out


@given(documents(PLAIN))
def test_a_document_without_secrets_keeps_its_bytes(document):
    payload = json.dumps(document).encode()
    assert masked(Redactor(KEY), payload) == payload


@given(WITH_SECRETS)
def test_masking_a_document_twice_changes_nothing(document):
    redactor = Redactor(KEY, specs=["value:SeCr", "key:*token*"])
    once = masked(redactor, json.dumps(document).encode())
    assert masked(redactor, once) == once


@given(SECRETS, SECRETS)
def test_tags_are_equal_where_values_are(one, other):
    redactor = Redactor(KEY)
    assert (redactor.tag(one) == redactor.tag(other)) == (one == other)


@given(SECRETS)
def test_a_secret_has_one_tag_wherever_it_is_seen(secret):
    redactor = Redactor(KEY)
    tag = redactor.tag(secret)
    path, in_path = redactor.target(f"/cb?token={quote(secret, safe='')}")
    form = f"token={quote(secret, safe='')}".encode()
    _, _, in_form = redactor.other(form, UNPARSED, "application/x-www-form-urlencoded")
    document = json.dumps({"token": secret}).encode()
    _, _, in_json = redactor.other(document, loads(document), "application/json")
    _, _, in_cut = redactor.other(document[:-1], UNPARSED, "application/json")
    assert [m.tag for m in (*in_path, *in_form, *in_json, *in_cut)] == [tag] * 4
    assert path == f"/cb?token=mcp-tap:{tag}"


HEADER_TEXT = st.text(
    string.ascii_letters + string.digits + "-._~+/=;, ", min_size=1, max_size=30
).map(lambda text: "SeCrEt" + text.strip())
CREDENTIALS = st.one_of(
    st.tuples(st.just("Authorization"), HEADER_TEXT.map(lambda s: "Bearer " + s)),
    st.tuples(st.just("aUTHORIZATION"), HEADER_TEXT.map(lambda s: s.replace(" ", ""))),
    st.tuples(st.just("X-API-Key"), HEADER_TEXT),
    st.tuples(st.just("Cookie"), HEADER_TEXT.map(lambda s: "sid=" + s.replace(";", "; x="))),
    st.tuples(st.just("Cookie"), HEADER_TEXT.map(lambda s: s.replace("=", "").replace(";", ""))),
    st.tuples(st.just("Set-Cookie"), HEADER_TEXT.map(lambda s: f"a={s.replace(';', '')}; Path=/")),
    st.tuples(st.just("Location"), HEADER_TEXT.map(lambda s: f"http://h/cb?code={quote(s)}&s=1")),
    st.tuples(st.just("Location"), HEADER_TEXT.map(lambda s: f"http://h/#access_token={quote(s)}")),
    st.tuples(st.just("Referer"), HEADER_TEXT.map(lambda s: f"http://h/cb?s=1&token={quote(s)}")),
)


@given(st.lists(CREDENTIALS, max_size=4))
def test_no_credential_of_a_head_is_left_in_its_record(fields):
    redactor = Redactor(KEY)
    raw = [(n.encode(), v.encode()) for n, v in fields]
    shown, masks = redactor.headers(raw)
    record = encode(
        HttpRequest(
            seq=1, t=0.0, exchange=1, conn=1, peer="", method="GET", path="/", headers=shown,
            masked=masks,
        )
    )  # fmt: skip
    assert LEAK not in record
    assert [n for n, _ in shown] == [n for n, _ in fields]
    assert len(masks) == len(fields)
    again, _ = redactor.headers([(n.encode(), v.encode()) for n, v in shown])
    assert again == shown


@given(st.sampled_from(sorted(SECRET_PARAMETERS)), SECRETS, st.sampled_from("&;?"))
def test_no_secret_of_a_query_is_left(name, secret, separator):
    for spelled in (
        name,
        name.upper(),
        quote(name[0]) + name[1:],
        "%" + f"{ord(name[0]):x}" + name[1:],
    ):
        target = f"/a?x=1{separator}{spelled}={quote(secret, safe='')}&y=2"
        shown, masks = Redactor(KEY).target(target)
        assert "SeCrEt" not in shown
        assert len(masks) == 1
        assert Redactor(KEY).target(shown)[0] == shown


@given(st.lists(st.tuples(SECRET_NAMES, SECRETS), min_size=1, max_size=3), st.floats(0, 1))
def test_no_secret_of_a_form_is_left_however_it_is_cut(pairs, part):
    payload = "&".join(f"{n}={quote(v, safe='')}" for n, v in pairs).encode()
    payload = b"grant_type=refresh_token&" + payload[: int(len(payload) * part) + 1]
    form = "application/x-www-form-urlencoded; charset=utf-8"
    out, _, masks = Redactor(KEY).other(payload, UNPARSED, form)
    assert LEAK not in line(out, masks)
    assert out.startswith(b"grant_type=refresh_token&")
    assert Redactor(KEY).other(out, UNPARSED, form)[0] == out


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_value_specification_masks_anywhere(before, after):
    redactor = Redactor(KEY, specs=["value:SeCrEt[0-9]+"])
    text = f"{before}SeCrEt123{after}"
    message = json.dumps({"jsonrpc": "2.0", "method": "m", "params": [text]}).encode()
    out, _, masks = redactor.message(message, loads(message))
    assert LEAK not in encode(Message(seq=1, t=0.0, sender="client", body=Raw(out), masked=masks))
    shown, _ = redactor.headers([(b"X-Any", b"SeCrEt12")])
    assert "SeCrEt" not in shown[0][1]
    assert "SeCrEt" not in redactor.target("/SeCrEt1/x")[0]
    assert LEAK not in redactor.other(text.encode(), UNPARSED, "text/plain")[0]


PIECES = st.lists(
    st.sampled_from(
        [*'"""\\:=&%[]+ \n\r<;,._-x{}\u00a0\x85\x1c\u0436\u0130\u0131', ": ", '\\"', "null", "12",
         "%3D", "%26", "%3F", "%253D", "%20", "%5B", "token", "to", "ken", "Code", "c%6Fde",
         "co%64e", "%2563ode", "to%E2%84%AAen", "to\u212aen", "\\u0063ode", "to\\u212aen",
         "access_token", "Access-Token", "client%5Fsecret", "password", "secret", "a=",
         "a=b&token=c", "&code=1&", '"code":"v"', "\r\n--b",
         'Content-Disposition: form-data; name="token"\r\n\r\n',
         "content-d\u0131spos\u0130tion: x; name=code\n\n"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(PIECES, st.sampled_from(["text/html", "application/x-www-form-urlencoded"]), st.booleans())
def test_looking_at_spots_masks_what_looking_everywhere_masks(text, content_type, wide):
    payload = text.encode("utf-16-le" if wide else "utf-8") + b" " * LONG
    everywhere = Redactor(KEY, specs=["key:*none"])  # a glob: any name may be meant
    found = Redactor(KEY).other(payload, UNPARSED, content_type)
    assert found == everywhere.other(payload, UNPARSED, content_type)
