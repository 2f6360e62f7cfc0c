"""Masking whole records: of a run that is recorded, and of a capture that exists already.

Rules of this file:

- What is masked already stays as it is, with the facts that are known of it.
- A record in which nothing is found is given back itself, to the byte.
- `seq`, `t`, sizes and digests are kept: they say what passed, not what is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Decision,
    Gap,
    Header,
    Headers,
    HttpRequest,
    HttpResponse,
    Mask,
    Message,
    Payload,
    Sse,
    pointer,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_facts import is_rpc
from mcp_tap.core.wire import LARGE, UNPARSED, carrier, whole_value

Words = TypeVar("Words", bound=AnyRecord)
_OPEN: Final = 10_000
"""Exchanges whose request target is remembered."""


def masked_payload(
    redactor: Redactor, payload: bytes, value: Any, content_type: str, target: bytes
) -> tuple[bytes, Any, list[Mask]]:
    """Mask a payload as what it is: a JSON-RPC message, or something else.

    Args:
        redactor: of the run.
        payload: its bytes.
        value: what they mean as JSON.
        content_type: as its head says.
        target: of the request it belongs to.
    """
    if b'"jsonrpc"' in payload if value is UNPARSED else is_rpc(value):
        return redactor.message(payload, value)
    return redactor.other(payload, value, content_type, target)


def masked_fields(redactor: Redactor, fields: Sse | None) -> tuple[Sse | None, list[Mask]]:
    """Mask what the specifications match in an event's fields beside its data."""
    masks: list[Mask] = []
    if fields is None or not redactor.touches_bodies:
        return fields, masks
    shown = {
        name: redactor.without_values(text, pointer("sse", name), masks)
        for name in ("id", "event", "retry")
        if (text := getattr(fields, name)) is not None
    }
    return Sse(**shown), masks


def told(specs: Iterable[str], redactor: Redactor) -> list[str]:
    """Name specifications in a header, with what they mask elsewhere masked in themselves, too."""
    named = (spec.partition(":") for spec in specs)
    return [kind + colon + redactor.hidden(rest) for kind, colon, rest in named]


class RecordRedactor:
    """Masks the records of one capture, given in order."""

    def __init__(self, redactor: Redactor, specs: Sequence[str], *, default: bool) -> None:
        """Mask with `redactor`, which was made of `specs` and `default`."""
        self._redactor = redactor
        self._told = [*(["default"] if default else []), *told(specs, redactor)]
        self._targets: OrderedDict[int, bytes] = OrderedDict()
        self.masked = 0
        """Values that were masked."""
        self.records = 0
        """Records in which that was."""

    def masked_record(self, record: AnyRecord) -> AnyRecord:
        """Give a record with what is to be masked in it masked."""
        if isinstance(record, Header):
            return self._header(record)
        if isinstance(record, Payload):
            return self._payload(record)
        if isinstance(record, HttpRequest):
            self._targets[record.exchange] = record.path.encode("utf-8", "surrogateescape")
            if len(self._targets) > _OPEN:
                self._targets.popitem(last=False)
            path, masks = self._redactor.target(record.path)
            headers, more = self._headers(record.headers)
            return self._with(record, [*masks, *more], path=path, headers=headers)
        if isinstance(record, HttpResponse):
            headers, masks = self._headers(record.headers)
            reason = self._redactor.without_values(record.reason, "/reason", masks)
            return self._with(record, masks, headers=headers, reason=reason)
        if isinstance(record, Closed):
            self._targets.pop(record.exchange, None)
        if isinstance(record, Closed | Decision | Gap):
            named = {"entry": record.entry} if isinstance(record, Decision) else {}
            return self._words(record, why=record.why, **named)
        return record

    def _header(self, header: Header) -> Header:
        """Say in the header what is masked from here on.

        The key it names is that of all tags; where there are others, none is named.
        """
        redactor, before = self._redactor, header.redaction
        upstream = header.upstream
        if header.transport == "http":
            upstream, _ = redactor.target(upstream)
        ours = redactor.fingerprint
        return msgspec.structs.replace(
            self._words(header, upstream=upstream, listen=header.listen, label=header.label),
            redaction=[*before, *(spec for spec in self._told if spec not in before)],
            key=ours if header.key in (None, ours) or not before else None,
        )

    def _words(self, record: Words, **shown: str | None) -> Words:
        """Put words of the tap's own into a record, without what the specifications match."""
        hidden = {k: None if v is None else self._redactor.hidden(v) for k, v in shown.items()}
        changed = sum(getattr(record, name) != text for name, text in hidden.items())
        self.masked += changed
        self.records += changed > 0
        return msgspec.structs.replace(record, **hidden) if changed else record

    def _headers(self, headers: Headers) -> tuple[Headers, list[Mask]]:
        """Mask header fields; of one that stays as it is nothing new is known."""
        raw = [(_sent(name), _sent(value)) for name, value in headers]
        shown, masks = self._redactor.headers(raw)
        pairs = enumerate(zip(headers, shown, strict=True))
        changed = {pointer("headers", n, 1) for n, (old, new) in pairs if old[1] != new[1]}
        return shown, [mask for mask in masks if mask.at in changed]

    def _payload(self, record: Payload) -> AnyRecord:
        redactor = self._redactor
        shown: dict[str, Any] = {}
        shown["sse"], beside = masked_fields(redactor, record.sse)
        if isinstance(record, Body) and record.content_type is not None:
            shown["content_type"] = redactor.hidden(record.content_type)
        payload = record.payload()
        protocol = isinstance(record, Message | Body)
        if protocol:
            _, value = carrier(payload)
            if len(payload) > LARGE:
                value = whole_value(payload)  # masking looks everywhere
            kind = (record.content_type if isinstance(record, Body) else None) or ""
            target = self._targets.get(record.exchange or 0, b"")
            out, _, masks = masked_payload(redactor, payload, value, kind, target)
        else:
            out, _, masks = redactor.other(payload, UNPARSED, "text/plain")
        # A document is written anew by masking it, so it differs even where nothing is new in it.
        new = _unknown(masks, record.masked) or any(mask.at == "/text" for mask in masks)
        if not new or out == payload:
            return self._with(record, beside, **shown)
        fields, _ = carrier(out)
        if not protocol and "body" in fields:  # noise is never JSON, whatever it looks like
            fields = {"text": out.decode()}
        empty = {"body": UNSET, "text": None, "b64": None}
        return self._with(record, [*beside, *masks], **shown, **{**empty, **fields})

    def _with(self, record: Any, masks: list[Mask], **shown: Any) -> AnyRecord:
        """Put what is shown into a record, and keep what is known of what was masked before."""
        if all(getattr(record, name) == value for name, value in shown.items()):
            return record  # type: ignore[no-any-return]
        new = _unknown(masks, record.masked)
        self.masked += len(new) or 1
        self.records += 1
        inside = tuple(f"{mask.at}/" for mask in new)
        kept = [mask for mask in record.masked if not mask.at.startswith(inside)]
        return msgspec.structs.replace(record, masked=[*kept, *new], **shown)  # type: ignore[no-any-return]


def _sent(text: str) -> bytes:
    """Give a part of a header as it was sent; what no header can hold was never on a wire."""
    return text.encode("latin-1", "backslashreplace")


def _unknown(masks: Iterable[Mask], known: Iterable[Mask]) -> list[Mask]:
    """Leave out masks of what is masked already: its tag is its own, and more is known of it."""
    before = {(mask.at, mask.tag) for mask in known}
    return [mask for mask in masks if (mask.at, mask.tag) not in before]
