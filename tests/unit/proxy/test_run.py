"""What a run checks before it listens, and what its header says."""

from __future__ import annotations

import asyncio
import re
import threading

import pytest

from mcp_tap.core.records import FORMAT
from mcp_tap.errors import UsageError
from mcp_tap.pipeline.warm import warm
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from tests.asking import answering
from tests.rig import Looker, pong, post, tapped

URL = "http://127.0.0.1:1/mcp"


def prepared(**settings) -> HttpRun:
    return HttpRun(TapSettings(**({"upstream": URL} | settings)), capture=None, view=Looker())


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"upstream": "localhost:3000"}, "bad-upstream"),
        ({"redact": ["nonsense"]}, "bad-redaction"),
        ({"redact_key": "/no/such/key"}, "bad-redact-key"),
        ({"upstream": "https://h/mcp", "cacert": "/no/such/ca"}, "bad-cacert"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_opened(settings, code):
    with pytest.raises(UsageError) as caught:
        prepared(**settings)
    assert caught.value.code == code


def test_a_short_masking_key_is_refused_with_a_way_to_make_one(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"short\n")
    with pytest.raises(UsageError) as caught:
        prepared(redact_key=str(key))
    assert caught.value.code == "bad-redact-key"
    assert str(key) in caught.value.help


def test_a_run_that_did_not_start_counts_nothing():
    run = prepared()
    assert (run.lost, run.exchanges, run.records, run.url) == (0, 0, 0, "")


async def test_the_header_says_what_is_done(tmp_path):
    settings = {"label": "billing", "redact": ["key:pin"], "max_body": 5000}
    async with tapped(pong, tmp_path, **settings) as rig:
        header = rig.view.header
        assert (header.format, header.transport) == (FORMAT, "http")
        assert re.fullmatch(r"\d{8}T\d{6}-billing-[0-9a-f]{4}", header.run)
        assert (header.label, header.redaction) == ("billing", ["default", "key:pin"])
        assert header.max_body == 5000
        assert header.tool.startswith("mcp-tap/")
        assert header.started.endswith("Z")
        assert len(header.key) == 16


async def test_the_header_keeps_no_value_that_is_masked_elsewhere(tmp_path):
    specs = ["value:SECRET[0-9]?", "value:other"]
    async with tapped(pong, tmp_path, path="/mcp/SECRET1", redact=specs) as rig:
        header = rig.view.header
    assert not any("SECRET1" in text for text in (header.upstream, header.listen))
    assert "SECRET" not in rig.run.capture.read_text()
    assert "value:other" not in header.redaction


async def test_exchanges_and_records_are_counted(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        for _ in range(3):
            await rig.ask(post())
        await rig.stop()
        assert rig.run.exchanges == 3
        assert rig.run.records == len(rig.records()) - 1
        assert rig.run.lost == 0


async def test_a_view_that_raises_at_the_end_does_not_cost_the_footer(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(post())

        def fault(changes, now):
            raise LookupError("a fault of the view's")

        rig.view.update = fault
        with pytest.raises(LookupError):
            await rig.stop()
        assert rig.view.closed
        assert rig.reader().header == rig.view.header
        assert len(rig.closed()) == 1


def times_warmed() -> int:
    return warm.cache_info().hits + warm.cache_info().misses


@pytest.mark.parametrize("judging", [True, False])
async def test_a_run_that_judges_gets_ready_for_it_once_it_listens(judging):
    before = times_warmed()
    settings = TapSettings(upstream=URL, port=0)
    run = HttpRun(settings, capture=None, view=Looker(), judging=judging)
    await run.start()
    assert times_warmed() == before, "whoever waits for the ready file would wait for it, too"
    await asyncio.sleep(0)
    for thread in threading.enumerate():
        if thread.name == "warm":
            await asyncio.to_thread(thread.join, 20)
    assert times_warmed() == before + judging
    await run.stop()


async def test_what_passed_is_known_at_once_to_whoever_has_it_worked_off(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(post())
        rig.run.settle()
        (call,) = rig.view.calls.values()
        assert call.outcome == "ok"


async def test_a_run_tells_whether_its_clients_have_left(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        wire = await rig.client()
        await wire.send(post())
        await wire.message()
        assert not await rig.run.deserted(0.01)
        await wire.close()
        assert await rig.run.deserted(5.0)


async def test_a_run_that_has_begun_can_be_given_answers(tmp_path):
    async with tapped(pong, tmp_path, label="desk") as rig:
        helper = answering()
        rig.run.answer(helper)
        assert helper.server_name == "desk"
        assert (await rig.ask(post())).status == 200
        await rig.stop()
        assert [call.outcome for call in rig.view.calls.values()] == ["ok"]
