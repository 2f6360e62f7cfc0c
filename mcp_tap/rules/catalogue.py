"""All rules, by id: importing this module imports every family."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from mcp_tap.rules.base import Rule, registered

FAMILIES: Final[tuple[str, ...]] = (
    # one line a module, sorted
    "answers",
    "cancellation",
    "deception",
    "discovery",
    "elicit_ask",
    "elicit_fields",
    "elicit_links",
    "elicit_options",
    "elicit_schema",
    "entered",
    "error_codes",
    "header_replies",
    "headers",
    "http_requests",
    "http_responses",
    "leaks",
    "legacy",
    "link_hosts",
    "link_people",
    "link_secrets",
    "listings",
    "logs",
    "meta_fields",
    "meta_keys",
    "mrtr_asks",
    "mrtr_reactions",
    "mrtr_retries",
    "mrtr_rounds",
    "mrtr_states",
    "mrtr_stray",
    "outdated",
    "param_headers",
    "payment_forms",
    "progress",
    "readable_states",
    "roots",
    "rpc_envelope",
    "rpc_pairing",
    "rpc_results",
    "rpc_shape",
    "sampling",
    "secret_answers",
    "secret_forms",
    "stdio_lines",
    "subscriptions",
    "tap",
    "tasks",
    "tasks_shape",
    "tools",
)
"""The modules that hold rules."""

for _module in FAMILIES:
    import_module(f"mcp_tap.rules.{_module}")

RULES: Final[tuple[Rule, ...]] = registered()
BY_ID: Final[dict[str, Rule]] = {rule.id: rule for rule in RULES}
BY_NAME: Final[dict[str, Rule]] = {rule.name: rule for rule in RULES}
