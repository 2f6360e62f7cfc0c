"""Which values are masked, and what stays known of them."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import UNPARSED, loads
from mcp_tap.errors import UsageError
from tests.work import seconds_of

KEY = b"k" * 32


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(**claims) -> str:
    return f"{b64url(b'{}xx')}.{b64url(json.dumps(claims).encode())}.{b64url(b'signature')}"


def one_header(name: str, value: str, **settings):
    shown, masks = Redactor(KEY, **settings).headers([(name.encode(), value.encode("latin-1"))])
    ((_, text),) = shown
    return text, masks


def message(document, *specs: str):
    payload = json.dumps(document).encode()
    out, value, masks = Redactor(KEY, specs=specs).message(payload, loads(payload))
    assert value == loads(out)
    return value, [m.at for m in masks], out == payload


def test_a_bearer_token_keeps_its_scheme_and_its_facts():
    text, (mask,) = one_header("authorization", "Bearer 0123456789abcdef0123")
    assert text == f"Bearer mcp-tap:{mask.tag}"
    assert (mask.at, mask.scheme, mask.length, mask.shape) == ("/headers/0/1", "Bearer", 20, "hex")


def test_a_credential_without_scheme_is_masked_whole():
    text, (mask,) = one_header("Authorization", "just-a-secret-of-mine")
    assert text == f"mcp-tap:{mask.tag}"
    assert mask.scheme is None


def test_cookies_keep_names_and_attributes():
    tag = Redactor(KEY).tag
    assert one_header("Cookie", "a=1; b=2")[0] == f"a=mcp-tap:{tag('1')}; b=mcp-tap:{tag('2')}"
    assert one_header("Set-Cookie", "a=1; Path=/; Secure")[0] == (
        f"a=mcp-tap:{tag('1')}; Path=/; Secure"
    )
    assert one_header("Cookie", "bare")[0] == f"mcp-tap:{tag('bare')}"
    assert one_header("Set-Cookie", "bare")[0] == f"mcp-tap:{tag('bare')}"


def test_other_headers_stay():
    assert one_header("Mcp-Session-Id", "abc") == ("abc", [])
    assert one_header("X-Latin", "caf\xe9") == ("caf\xe9", [])


def test_the_principal_of_a_jwt_and_of_basic_has_a_tag():
    first, second = jwt(iss="https://as", sub="ann", n=1), jwt(iss="https://as", sub="ann", n=2)
    (one,), (two,) = (one_header("authorization", f"Bearer {t}")[1] for t in (first, second))
    assert one.shape == "jwt"
    assert one.tag != two.tag
    assert one.principal == two.principal is not None
    (other,) = one_header("authorization", f"Bearer {jwt(iss='https://as', sub='bob')}")[1]
    assert other.principal != one.principal
    ann = base64.b64encode(b"ann:secret").decode()
    (basic,) = one_header("authorization", f"Basic {ann}")[1]
    assert basic.principal == Redactor(KEY).tag("ann")


@pytest.mark.parametrize("token", [jwt(sub=5), "aaaa.!!!!.b", "abcd.W10.", "abcd._w.x", "Basic"])
def test_a_token_that_names_nobody_has_no_principal(token):
    for scheme in ("Bearer", "Basic"):
        assert one_header("authorization", f"{scheme} {token}")[1][0].principal is None


def test_query_secrets_are_masked_and_the_rest_stays_raw():
    shown, (mask,) = Redactor(KEY).target("/mcp?x=%2F&access_token=a%20b&&empty=&token=")
    assert shown == f"/mcp?x=%2F&access_token=mcp-tap:{mask.tag}&&empty=&token="
    assert (mask.at, mask.length) == ("/path", 3)
    assert Redactor(KEY, default=False).target("/mcp?token=x") == ("/mcp?token=x", [])


@pytest.mark.parametrize(
    "target",
    [
        "/a#access_token=SECRET",
        "/a&token=SECRET",
        "/a;token=SECRET",
        "/to/http://user:SECRET@host/",
        "/?a[token]=SECRET",
        "/?a%5Bb%5D%5Bclient_secret%5D=SECRET",
        "/?code[]=SECRET",
        "/?to=h%3Fa[token]%3DSECRET",
    ],
)
def test_a_secret_is_found_wherever_in_a_target_it_stands(target):
    shown, (mask,) = Redactor(KEY).target(target)
    assert shown == target.replace("SECRET", f"mcp-tap:{mask.tag}")


def test_a_redirect_does_not_leak_the_code_it_carries():
    text, (mask,) = one_header("Location", "http://127.0.0.1/cb?code=SECRET&state=s#id_token=")
    assert text == f"http://127.0.0.1/cb?code=mcp-tap:{mask.tag}&state=s#id_token="
    assert mask.at == "/headers/0/1"


def test_nothing_in_a_message_is_masked_unless_asked():
    document = {"jsonrpc": "2.0", "method": "m", "params": {"token": "t", "password": "p"}}
    assert message(document) == (document, [], True)


def test_keys_are_masked_wherever_they_are_and_whatever_they_hold():
    tag = Redactor(KEY).tag
    value, places, _ = message(
        {"params": {"PassWord": "p", "n": [{"my_password": {"a": 1}}], "password": None}},
        "key:*password",
    )
    inner = tag('{"a":1}')
    assert value["params"] == {
        "PassWord": f"mcp-tap:{tag('p')}",
        "n": [{"my_password": f"mcp-tap:{inner}"}],
        "password": None,
    }
    assert places == ["/body/params/PassWord", "/body/params/n/0/my_password"]


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("$.params.arguments.pin", ["/body/params/arguments/pin"]),
        ("$.params.*.pin", ["/body/params/arguments/pin"]),
        ("$..pin", ["/body/params/arguments/pin", "/body/params/list/0/pin", "/body/pin"]),
        ("$.params.list[0].pin", ["/body/params/list/0/pin"]),
        ("$.params.list[*].pin", ["/body/params/list/0/pin"]),
        ("$.params..pin", ["/body/params/arguments/pin", "/body/params/list/0/pin"]),
        ("$.params", ["/body/params"]),
        ("$['params']['list'][*].p*n", ["/body/params/list/0/pin"]),
        ("$..list..pin", ["/body/params/list/0/pin"]),
        ("$..params..arguments..pin", ["/body/params/arguments/pin"]),
        ("$..list.pin", []),
        ("$..[0].pin", ["/body/params/list/0/pin"]),
        ("$.nothing", []),
    ],
)
def test_paths_name_places(path, places):
    document = {"params": {"arguments": {"pin": "1"}, "list": [{"pin": "2"}]}, "pin": "3"}
    assert message(document, f"path:{path}")[1] == places


def test_paths_hold_within_each_message_of_a_batch():
    assert message([{"params": {"a": 1}}, {"params": {"a": 2}}], "path:$.params.a")[1] == [
        "/body/0/params/a",
        "/body/1/params/a",
    ]


def test_values_are_masked_by_pattern_in_strings_and_numbers():
    value, places, _ = message(
        {"a": "key sk-12345 here", "n": 4111111111, "ok": True}, "value:sk-|^4111"
    )
    assert places == ["/body/a", "/body/n"]
    assert value["ok"] is True


def test_a_masked_number_says_that_it_was_one():
    payload = b'{"n":5,"o":{},"l":[],"s":""}'
    masks = Redactor(KEY, specs=["key:*"]).message(payload, loads(payload))[2]
    assert [m.type for m in masks] == ["number", "object", "array", "string"]


def test_a_header_can_be_named():
    assert one_header("X-Mine", "v", specs=["header:x-MINE"])[0].startswith("mcp-tap:")


def test_default_masks_can_be_switched_off_and_named_ones_stay():
    settings = {"default": False, "specs": ["header:cookie"]}
    assert one_header("Authorization", "Bearer x", **settings) == ("Bearer x", [])
    assert one_header("Cookie", "a=b", **settings)[1]
    payload = b'{"access_token":"x"}'
    assert Redactor(KEY, default=False).other(payload, loads(payload), "")[0] == payload


def test_a_path_with_wildcards_is_matched_in_no_time():
    deep: dict = {"x": 1}
    for _ in range(100):
        deep = {"a": {"b": deep}}
    assert seconds_of(lambda: message(deep, "path:$..a..b..a..b..c")) < 2


def test_what_is_nested_too_deep_to_look_into_is_masked_whole():
    payload = b'{"secret":' * 3000 + b"1" + b"}" * 3000
    out, value, (mask,) = Redactor(KEY, specs=["key:secret2"]).message(payload, loads(payload))
    assert out == f"mcp-tap:{mask.tag}".encode()
    assert value is UNPARSED


def test_a_form_is_masked_by_name():
    form = b"grant_type=password&username=ann&password=p%26q&code=&client_secret=s"
    out, _, masks = Redactor(KEY).other(form, UNPARSED, "application/x-www-form-urlencoded")
    tags = [m.tag for m in masks]
    assert out.decode() == (
        f"grant_type=password&username=ann&password=mcp-tap:{tags[0]}&code="
        f"&client_secret=mcp-tap:{tags[1]}"
    )
    assert tags[0] == Redactor(KEY).tag("p&q")


def test_specifications_hold_in_forms_and_queries_too():
    redactor = Redactor(KEY, default=False, specs=["key:pin", "value:sk-[0-9]+"])
    out = redactor.other(b"pin=1&a=sk-2", UNPARSED, "application/x-www-form-urlencoded")[0]
    assert b"pin=1" not in out
    assert b"sk-2" not in out
    assert len(redactor.target("/?pin=1&a=sk-2")[1]) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"access_token":"SECRET',
        '{"access_token" :\n "SECRET", "x',
        '{"acc\\u0065ss_token":"SECRET"',
        '{"a":"he said "code":"SECRET"}',
        '{"code":"a"token":"SECRET"}',
        '{"token":SECRET, oops',
        '{"token":{"deep":["SECRET"',
        '{"token":"a\\"SECRET',
        '\ufeff{"token":"SECRET"}',
        'x {"token":"SECRET"} y',
    ],
)
def test_tokens_in_broken_json_are_masked(text):
    out, value, masks = Redactor(KEY).other(text.encode(), UNPARSED, "application/json")
    assert b"SECRET" not in out
    assert value is UNPARSED
    assert {m.at for m in masks} == {"/text"}


def test_broken_json_without_tokens_keeps_its_bytes():
    text = b'{"a":"b", "code":null, "token":true, \xff'
    assert Redactor(KEY).other(text, UNPARSED, "application/json")[0] == text


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "password",
        "key:",
        "cookie:a",
        "path:params.a",
        "path:$",
        "path:$.",
        "path:$.a..",
        "path:$.a[x]",
        "value:(",
        r"value:(a)\1",
        "value:a(?=b)",
        ":x",
    ],
)
def test_a_bad_specification_is_refused_with_what_to_write(spec):
    with pytest.raises(UsageError) as caught:
        Redactor(KEY, specs=[spec])
    assert caught.value.code == "bad-redaction"
    assert repr(spec) in caught.value.what


def test_keys_show_a_fingerprint_by_which_tags_can_be_compared():
    assert Redactor(KEY).fingerprint == Redactor(KEY).fingerprint
    assert Redactor(KEY).fingerprint != Redactor(b"x" * 32).fingerprint
    assert Redactor(KEY).tag("a") != Redactor(b"x" * 32).tag("a")


def test_remembered_masks_stay_few():
    redactor = Redactor(KEY)
    for n in range(2_000):
        redactor.headers([(b"authorization", b"Bearer %d" % n)])
    assert len(redactor._cache) <= 512


def other(payload: bytes, content_type: str = "application/json", target: bytes = b"/"):
    redactor = Redactor(KEY)
    try:
        value = loads(payload)
    except ValueError:
        value = UNPARSED
    out, value, masks = redactor.other(payload, value, content_type, target)
    again = UNPARSED if value is UNPARSED else loads(out)
    assert redactor.other(out, again, content_type, target)[0] == out
    return out, [m.at for m in masks]


TOKEN = b'{"access_token":"SECRET","token_type":"bearer"'


@pytest.mark.parametrize(
    "payload",
    [
        b"[" + TOKEN + b"}]",
        b"[[" + TOKEN + b"}]]",
        b'[{"jsonrpc":"2.0","method":"m"},' + TOKEN + b"}]",
        TOKEN + b',"result":1}',
        TOKEN + b',"method":"x"}',
        b'{"method":"x","data":' + TOKEN + b"}}",
        b'{"access_token":"SECRET","access_token":null}',
        b'{"a":{"access_token":"SECRET"},"a":1}',
        b'[{"acc\\u0065ss_token":"SECRET","access_token":null}]',
        b'{"accessToken":"SECRET","Client-Secret":"SECRET"}',
        b'{"device_code":"SECRET","user_code":"SECRET","verification_uri_complete":"h?SECRET"}',
        b'{"actor_token":"SECRET","id_token_hint":"SECRET","client_assertion":"SECRET"}',
        TOKEN.decode().encode("utf-16"),
        (TOKEN + b"}").decode().encode("utf-16-be"),
        b"\xfe\xff" + (TOKEN + b"}").decode().encode("utf-16-be") + b"x",
        TOKEN.decode().encode("utf-32-le"),
    ],
)
def test_tokens_do_not_hide_in_unusual_json(payload):
    out, places = other(payload)
    assert b"SECRET" not in out.replace(b"\0", b"")
    assert places


@pytest.mark.parametrize(
    "payload",
    [
        b'[{"jsonrpc":"2.0","method":"m","params":{"token":"t","token":"u"}}]',
        b'[{"id":1,"method":"m","params":{"code":"c"}},{"id":1,"result":{"token":"t"}}]',
        b'{"method":"m","params":{"token":"t"}}',
        b'{"result":{"access_token":"t"}}',
        b'{"id":1,"result":{},"token":"t"}',
        b'{"x":"a \\"token\\":\\"b\\"","token":null}',
        b"\x00\x01binary token",
    ],
)
def test_parameters_and_results_of_json_rpc_are_never_masked_by_default(payload):
    assert other(payload) == (payload, [])


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (b"access_token=SECRET&scope=&x=1", b"access_token=%b&scope=&x=1"),
        (b"code=SE%43RET\r\n", b"code=%b\r\n"),
        (b"scope=a&password=SECRET", b"scope=a&password=%b"),
        (b"the page says token=SECRET; go on", b"the page says token=%b; go on"),
        (b"uri=http%3A%2F%2Fh%3Fcode%3DSECRET", b"uri=http%%3A%%2F%%2Fh%%3Fcode%%3D%b"),
    ],
)
def test_forms_are_known_without_their_content_type(payload, shown):
    tag = b"mcp-tap:" + Redactor(KEY).tag("SECRET").encode()
    for content_type in ("", "text/plain"):
        assert other(payload, content_type)[0] == shown % tag


def test_the_parts_of_a_multipart_form_are_masked_by_name():
    head = (
        b'--B\r\nContent-Disposition: form-data; filename="x"; name=%b\r\nContent-Type: a/b\r\n\r\n'
    )
    payload = head % b'"a"' + b"kept\r\n" + head % b'"client_secret"' + b"SEC\nRET\r\n--B--\r\n"
    tag = Redactor(KEY).tag("SEC\nRET").encode()
    for cut in (payload, payload[:-9]):
        out, _ = other(cut, "multipart/form-data; boundary=b")
        assert out == cut.replace(b"SEC\nRET", b"mcp-tap:" + tag)


def test_what_cannot_be_read_is_masked_whole_on_the_way_to_tokens_only():
    packed = gzip.compress(TOKEN)
    for target in (b"/oauth/x", b"/TOKEN?a", b"http://h/authorize", b"/register"):
        out, places = other(packed, "", target)
        assert out.startswith(b"mcp-tap:")
        assert places == ["/text"]
    assert other(packed, "application/x-www-form-urlencoded")[0].startswith(b"mcp-tap:")
    assert other(packed, "", b"/mcp?next=/token") == (packed, [])
    cut = '{"scope":"\u0436'.encode()[:-1]
    assert other(cut, "", b"/token") == (cut, [])


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Location", "http://u:SECRET@h/a@b", "http://u:{}@h/a@b"),
        ("Origin", "http://u:SECRET@h", "http://u:{}@h"),
        ("Referer", "https://SECRET@h?x", "https://{}@h?x"),
        ("Location", "http://u:@h/?a=b", "http://u:@h/?a=b"),
        ("Refresh", "0; url=/cb?code=SECRET", "0; url=/cb?code={}"),
        ("Link", "</x?token=SECRET>; rel=next", "</x?token={}>; rel=next"),
        ("Location", "/cb?next=%2Fa%3Fx%3D1%26code%3DSECRET", "/cb?next=%2Fa%3Fx%3D1%26code%3D{}"),
        ("Location", "/cb?token[]=SECRET", "/cb?token[]={}"),
    ],
)
def test_urls_in_header_fields_lose_their_secrets(name, value, shown):
    expected = shown.format(f"mcp-tap:{Redactor(KEY).tag('SECRET')}")
    assert one_header(name, value)[0] == expected
    assert one_header(name, expected)[0] == expected


def test_a_target_loses_its_password():
    tag = Redactor(KEY).tag("SECRET")
    shown, (mask,) = Redactor(KEY).target("http://u:SECRET@localhost/ok")
    assert (shown, mask.at) == (f"http://u:mcp-tap:{tag}@localhost/ok", "/path")
    assert Redactor(KEY, default=False).target("http://u:p@h/")[0] == "http://u:p@h/"


def test_a_value_is_found_beyond_any_length_and_masked_where_it_stands():
    redactor = Redactor(KEY, specs=["value:sk-[0-9]+"])
    text = "x" * 1_100_000 + " sk-1 and sk-2."
    out = redactor.other(text.encode(), UNPARSED, "text/plain")[0].decode()
    one, two = redactor.tag("sk-1"), redactor.tag("sk-2")
    assert out.endswith(f"x mcp-tap:{one} and mcp-tap:{two}.")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("(a+)+$", "a" * 40 + "!"), (r"[\w.]+@[\w.]+\.com", "a" * 200_000 + "@")],
)
def test_no_text_can_make_a_value_specification_hang(pattern, text):
    given = {"jsonrpc": "2.0", "x": text}
    assert seconds_of(lambda: message(given, f"value:{pattern}")) < 2


@pytest.mark.parametrize(
    "text",
    [
        '"' * 200_000,
        '"a":' * 50_000,
        "a=" * 100_000,
        "content-disposition: x; name=a\r\n" * 10_000,
        "content-disposition:" + "name=" * 50_000,
        "content-disposition: name=" * 10_000,
        '"' + '\\"' * 100_000,
        '["' + '\\"' * 100_000 + '"]',
        "//" * 100_000 + "@",
        "&" * 200_000 + "=",
    ],
)
def test_no_text_makes_looking_for_fields_slow(text):
    assert seconds_of(lambda: other(text.encode(), "text/plain")) < 1
    assert seconds_of(lambda: other(json.dumps({"a": text}).encode())) < 1
    assert seconds_of(lambda: one_header("Location", text)) < 1
