"""Whoever asks takes every part of a response, as the connection hands it over."""

from __future__ import annotations

import inspect

import pytest

from mcp_tap.net.sink import ResponseSink
from mcp_tap.proxy.exchange import HttpExchange

PARTS = [name for name in vars(ResponseSink) if name.startswith("upstream_")]


@pytest.mark.parametrize("part", PARTS)
def test_an_exchange_takes_the_part_as_it_is_given(part):
    given = inspect.signature(getattr(ResponseSink, part))
    taken = inspect.signature(getattr(HttpExchange, part))
    assert taken.parameters == given.parameters


def test_every_part_of_a_response_has_its_place():
    assert len(PARTS) == 7
