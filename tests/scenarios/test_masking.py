"""No credential reaches the capture, whichever way it took."""

from __future__ import annotations

import gzip
import json

import pytest

from mcp_tap.core.records import Body, Message
from tests.handlers import once
from tests.rig import HOST, LAST_CHUNK, SSE_HEAD, always, chunk, event, get, ok, post, tapped

SECRET = b"tOpSeCrEt0123456789abcdef"
TOKENS = b'{"access_token":"%b","token_type":"Bearer","refresh_token":"r%b","scope":"a"}' % (
    SECRET,
    SECRET,
)


def form(body: bytes) -> bytes:
    return (
        b"POST /token HTTP/1.1\r\n" + HOST + b"Content-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )


REQUESTS = {
    "bearer": get(b"/mcp", b"Authorization: Bearer " + SECRET),
    "bare": get(b"/mcp", b"AUTHORIZATION: " + SECRET),
    "proxy": get(b"/mcp", b"Proxy-Authorization: Basic " + SECRET),
    "key": get(b"/mcp", b"x-api-key: " + SECRET),
    "cookie": get(b"/mcp", b"Cookie: a=b; sid=" + SECRET),
    "query": get(b"/mcp?a=1&access_token=%b&b=2" % SECRET),
    "query spelled oddly": get(b"/mcp?%63ode=" + SECRET),
    "absolute target": get(b"http://127.0.0.1/mcp?token=" + SECRET),
    "referer": get(b"/mcp", b"Referer: http://127.0.0.1/cb?code=" + SECRET),
    "form": form(b"grant_type=authorization_code&code=%b&code_verifier=%b" % (SECRET, SECRET)),
    "dropped field": get(b"/mcp", b"Connection: authorization", b"Authorization: B " + SECRET),
    "password of a url": get(b"http://u:%b@127.0.0.1/mcp" % SECRET),
    "url within a url": get(b"/mcp?next=%2Fcb%3Fcode%3D" + SECRET),
    "form without a type": form(b"client_secret=" + SECRET).replace(b"x-www-form-urlencoded", b"x"),
    "multipart": form(
        b'--B\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n%b\r\n--B--\r\n'
        % SECRET
    ).replace(b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=B"),
    "broken json": post(b'{"client_secret":"%b", oops' % SECRET),
}
ANSWERS = {
    "tokens": ok(TOKENS),
    "tokens with blanks": ok(json.dumps(json.loads(TOKENS), indent=2).encode()),
    "tokens as text": ok(TOKENS).replace(b"application/json", b"text/plain"),
    "tokens in gzip": ok(gzip.compress(TOKENS), b"Content-Encoding: gzip"),
    "tokens in a list": ok(b"[" + TOKENS + b"]"),
    "tokens with a result": ok(TOKENS[:-1] + b',"result":1}'),
    "tokens with a method": ok(TOKENS[:-1] + b',"method":"m"}'),
    "tokens twice": ok(b'{"access_token":"%b","access_token":null}' % SECRET),
    "tokens in UTF-16": ok(TOKENS.decode().encode("utf-16")),
    "tokens in an event": SSE_HEAD + chunk(event(TOKENS)) + LAST_CHUNK,
    "tokens in a cut event": SSE_HEAD + chunk(b"data: " + TOKENS[:50]) + LAST_CHUNK,
    "tokens in a comment": SSE_HEAD + chunk(b": " + TOKENS + b"\n\n") + LAST_CHUNK,
    "tokens in what nobody can decode": ok(gzip.compress(TOKENS), b"Content-Encoding: x-own"),
    "registration": ok(b'{"client_id":"x","client_secret":"%b"}' % SECRET),
    "set-cookie": ok(b"{}", b"Set-Cookie: sid=%b; HttpOnly" % SECRET),
    "redirect": ok(b"", b"Location: http://127.0.0.1:1/cb?code=%b&state=x" % SECRET),
    "fragment": ok(b"", b"Location: http://127.0.0.1:1/cb#access_token=" + SECRET),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS.keys())
async def test_credentials_of_a_request_pass_and_are_not_recorded(tmp_path, request_):
    async with tapped(always(ok(b"{}")), tmp_path) as rig:
        assert (await rig.ask(request_)).status == 200
        dropped = b"Connection: authorization" in request_
        assert (SECRET in rig.upstream.received) is not dropped
        await rig.stop()
        assert SECRET not in rig.capture_bytes()
        assert b"mcp-tap:" in rig.capture_bytes()
        assert not any(SECRET.decode() in notice for notice in rig.view.notices)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
async def test_credentials_of_an_answer_pass_and_are_not_recorded(tmp_path, answer):
    async with tapped(always(answer), tmp_path) as rig:
        assert await rig.raw(form(b"grant_type=refresh_token&refresh_token=" + SECRET)) == answer
        await rig.stop()
        assert SECRET not in rig.capture_bytes().replace(b"\\u0000", b"")
        for record in rig.records(Body, Message):
            assert b"\x1f\x8b" not in (record.b64 or b"")
            assert SECRET not in (record.b64 or b"").replace(b"\0", b"")


@pytest.mark.parametrize("kept", [20, 40, len(TOKENS) - 2])
async def test_a_token_answer_that_is_cut_is_not_recorded_in_clear(tmp_path, kept):
    answer = ok(TOKENS)

    async with tapped(once(answer[: len(answer) - len(TOKENS) + kept]), tmp_path) as rig:
        await rig.ask(form(b"grant_type=refresh_token&refresh_token=" + SECRET))
        await rig.stop()
        assert SECRET[:4] not in rig.capture_bytes()
        assert rig.closed()[0].how == "upstream_cut"


async def test_a_token_answer_beyond_the_cap_is_not_recorded_in_clear(tmp_path):
    big = TOKENS.replace(b'"a"', b'"%b"' % (b"a" * 300_000))
    async with tapped(always(ok(big)), tmp_path, max_body=1000) as rig:
        await rig.ask(get())
        await rig.stop()
        assert SECRET not in rig.capture_bytes()
        assert rig.records(Body, Message)[0].truncated


async def test_json_rpc_in_a_batch_or_without_its_version_is_recorded_as_it_is(tmp_path):
    call = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"token":"t","code":1}}'
    bare = b'{"method":"m","params":{"token":"t","access_token":"u"}}'
    async with tapped(always(ok(b"[" + call + b"]")), tmp_path) as rig:
        await rig.ask(post(bare))
        await rig.stop()
        assert [bytes(m.body) for m in rig.messages()] == [bare, b"[" + call + b"]"]


async def test_given_headers_are_masked_on_the_upstream_leg_too(tmp_path):
    headers = [("Authorization", f"Bearer {SECRET.decode()}")]
    async with tapped(always(ok()), tmp_path, headers=headers) as rig:
        await rig.ask(post())
        assert SECRET in rig.upstream.received
        await rig.stop()
        assert SECRET not in rig.capture_bytes()
        assert rig.requests()[1].masked[0].scheme == "Bearer"


@pytest.mark.parametrize(
    "spec",
    [
        "key:pin",
        "key:P*N",
        "path:$.params.arguments.pin",
        "path:$..pin",
        "value:tOpSeCrEt[0-9a-f]+",
    ],
)
async def test_specifications_mask_messages_whole_cut_and_in_streams(tmp_path, spec):
    def message(value: bytes) -> bytes:
        return (
            b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","arguments":{"pin":"%b"}}}'
            % value
        )

    async def handler(wire):
        request = await wire.message()
        assert SECRET in request.body
        whole = message(SECRET)
        await wire.send(SSE_HEAD, chunk(b": " + SECRET + b"\n\n") if "value" in spec else b"")
        await wire.send(chunk(event(whole)), chunk(b"data: " + whole[:-3]), LAST_CHUNK)

    async with tapped(handler, tmp_path, redact=[spec]) as rig:
        answer = await rig.ask(post(message(SECRET)))
        assert answer.body.count(SECRET) >= 2
        await rig.stop()
        assert SECRET not in rig.capture_bytes()
        request, event_ = rig.messages()
        assert request.masked[0].tag == event_.masked[0].tag
        assert rig.records()[0].redaction == ["default", spec]


async def test_a_value_is_masked_in_the_type_of_a_body_too(tmp_path):
    typed = ok(b"pages").replace(b"application/json", b"multipart/x; boundary=tag-17")
    async with tapped(always(typed), tmp_path, redact=["value:tag-[0-9]+"]) as rig:
        assert (await rig.ask(get(b"/mcp"))).body == b"pages"
        await rig.stop()
        assert b"tag-17" not in rig.capture_bytes()
        assert [body.content_type for body in rig.records(Body)] != [None]


async def test_equal_values_have_equal_tags_under_one_key_and_no_others(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef0123456789abcdef\n")
    tags, prints = [], []
    for n, path in enumerate([key, key, None]):
        folder = tmp_path / str(n)
        folder.mkdir()
        settings = {"redact_key": str(path)} if path else {}
        async with tapped(always(ok()), folder, **settings) as rig:
            await rig.ask(get(b"/", b"Authorization: Bearer " + SECRET))
            await rig.stop()
            tags.append(rig.requests()[0].masked[0].tag)
            prints.append(rig.records()[0].key)
    assert tags[0] == tags[1] != tags[2]
    assert prints[0] == prints[1] != prints[2]


async def test_nothing_is_masked_when_masks_are_switched_off(tmp_path):
    async with tapped(always(ok(TOKENS)), tmp_path, default_redaction=False) as rig:
        await rig.ask(get(b"/?token=" + SECRET, b"Authorization: Bearer " + SECRET))
        await rig.stop()
        assert rig.capture_bytes().count(SECRET) == 4
        assert rig.records()[0].redaction == []
