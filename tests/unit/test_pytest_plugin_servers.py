"""What `tap_server` may be, and how long a server lives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.plugged import Project

PEER = Path(__file__).parents[1] / "peers" / "plain_stdio.py"
USES = """
def test_it(tap, call):
    assert call(tap.url, "build", {"target": "billing"})
"""
DEMO = f"""{{
        "url": "http://127.0.0.1:{{port}}/mcp",
        "command": [{sys.executable!r}, "-m", "mcp_tap.demo.server", "--port", "{{port}}"],
    }}"""
ASGI = '''
import json

async def app(scope, receive, send):
    """Answer every request with a result."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = b""
    while True:
        part = await receive()
        body += part["body"]
        if not part.get("more_body"):
            break
    result = {"resultType": "complete", "content": [{"type": "text", "text": scope["path"]}]}
    answer = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": result}
    fields = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})
'''


ENDS = f"""{{
        "url": "http://127.0.0.1:{{port}}/",
        "command": [{sys.executable!r}, "-c", "print('no way'); exit(3)"],
    }}"""


@pytest.fixture
def project(pytester, monkeypatch):
    return Project(pytester, monkeypatch)


def served_by(project, value, *, scope="session", before=""):
    project.conftest(
        f'\n{before}\n@pytest.fixture(scope="{scope}")\ndef tap_server():\n    return {value}\n'
    )


def test_a_url_names_a_server_that_is_there_already(project, serving):
    url = serving(sys.executable, "-c", ANNOUNCES)
    served_by(project, repr(url))
    project.write(USES)
    project.ends(passed=1)


ANNOUNCES = """
import asyncio, json
from mcp_tap.demo.server import DemoServer

async def main():
    server = DemoServer()
    await server.start()
    print(json.dumps({"url": server.url}), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_an_http_server_is_started_on_a_free_port_and_stopped(project):
    served_by(project, DEMO)
    project.write(USES + "    assert 0\n")
    out = project.ends(failed=1)
    assert "the server printed last:\n  http://127.0.0.1:" in out


def test_a_stdio_server_is_served_over_http(project):
    served_by(project, f"[{sys.executable!r}, {str(PEER)!r}]")
    project.write(
        "import asyncio, aiohttp, pytest\n"
        "from mcp_tap.demo.client import DemoClient\n\n"
        "@pytest.mark.tap_capture\n"
        "def test_it(tap):\n"
        "    async def play():\n"
        "        async with aiohttp.ClientSession() as session:\n"
        "            client = DemoClient(session, tap.url, None)\n"
        '            return await client.call("progress", {"steps": 2}, progress=True)\n'
        '    assert asyncio.run(play())["steps"] == 2\n'
        '    assert tap.calls.one(tool="progress").outcomes == ["complete"]\n'
    )
    project.ends("--tap-disable", passed=0, skipped=1)
    project.ends("--tap-record-mode=once", "--tap-fail-on=never", passed=1)
    assert f'"upstream":"python {PEER}"' in project.capture("test_it").read_text()
    served_by(project, '["no-such-program"]')
    project.ends("--tap-fail-on=never", passed=1)


def test_an_asgi_application_is_served_by_uvicorn(project):
    served_by(project, "app", before=ASGI)
    project.write(USES.replace("    assert call", "    assert '/mcp' == call"))
    project.ends("--tap-fail-on=never", passed=1)


def test_an_application_has_its_endpoint_where_it_says(project):
    served_by(project, '{"app": app, "path": "/else"}', before=ASGI)
    project.write(USES.replace("    assert call", "    assert '/else' == call"))
    project.ends("--tap-fail-on=never", passed=1)


@pytest.mark.parametrize(("scope", "started"), [("session", 1), ("function", 2)])
def test_a_server_lives_as_long_as_its_fixture(project, scope, started):
    before = (
        "async def started(app):\n"
        '    with (Path(__file__).parent / "life.txt").open("a") as file:\n'
        '        file.write("up ")\n'
        "    yield\n"
        '    with (Path(__file__).parent / "life.txt").open("a") as file:\n'
        '        file.write("down ")\n'
    )
    served_by(project, "made()", scope=scope, before=before + MADE)
    project.write(USES + USES.replace("test_it", "test_that"))
    project.ends(passed=2)
    assert (project.path / "life.txt").read_text() == "up down " * started


MADE = """
def made():
    server = DemoServer()
    app = web.Application()
    app.cleanup_ctx.append(started)
    app.router.add_post("/mcp", server._post)
    return app
"""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("'python -m server'", 'tap_server gives "python -m server", which is no URL'),
        ("3", 'tap_server gives "3", which is no server'),
        ("[]", 'tap_server: "[]" is no command'),
        ("{'comand': ['x']}", "tap_server gives a dict that names no server"),
        ("{'command': ['x']}", "tap_server has a command and no URL"),
        ("{'url': 'http://127.0.0.1:1/', 'command': ['x'], 'waits': 3}", 'did you mean "wait"?'),
        ("{'url': 'http://127.0.0.1:{port}/', 'command': ['no-such']}", "exited with code 127"),
        (
            ENDS,
            "it printed last: no way",
        ),
    ],
)
def test_a_server_that_cannot_be_run_is_an_error(project, value, words):
    served_by(project, value)
    project.write(USES)
    assert words in project.ends(errors=1)


def test_without_a_fixture_the_error_shows_one(project):
    project.pytester.makeconftest("")
    project.write("def test_it(tap):\n    pass\n")
    out = project.ends(errors=1)
    assert "error[no-server]: there is no fixture tap_server" in out


def test_clients_that_start_their_server_are_led_to_the_tap(project):
    project.write(
        "import json, subprocess\n\n"
        "def test_it(tap):\n"
        '    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",\n'
        '            "io.modelcontextprotocol/clientCapabilities": {}}\n'
        '    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}\n'
        "    run = subprocess.run(tap.stdio_command, input=json.dumps(ask) + '\\n',\n"
        "                         capture_output=True, text=True, timeout=20)\n"
        '    assert json.loads(run.stdout)["result"]["tools"], run\n'
        '    assert tap.calls.one(method="tools/list").outcome == "ok"\n'
    )
    project.ends("--tap-fail-on=never", passed=1)


def test_a_fixture_with_parameters_is_told_what_it_needs(project):
    project.conftest(
        '\n@pytest.fixture(scope="session", params=["a", "b"])\n'
        "def tap_server(request):\n"
        "    app = web.Application()\n"
        '    app.router.add_post("/mcp", DemoServer()._post)\n'
        "    return app\n"
    )
    project.write(USES)
    assert 'pytestmark = pytest.mark.usefixtures("tap_server")' in project.ends(errors=1)
    project.write('import pytest\n\npytestmark = pytest.mark.usefixtures("tap_server")\n' + USES)
    project.ends(passed=2)
