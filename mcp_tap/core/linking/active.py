"""Calls in progress in one session, found by the JSON-RPC id of their first request too.

Strangers use an id for more than one call, or one for all of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_tap.core.values import digest, same_id

if TYPE_CHECKING:
    from mcp_tap.core.linking.state import Live, Track

_ById: TypeAlias = "dict[Any, list[Track]]"


class Active:
    """Calls that have not ended, oldest first."""

    __slots__ = ("_ids", "_tracks", "_waiting")

    def __init__(self) -> None:
        """Know of none."""
        self._tracks: OrderedDict[int, Track] = OrderedDict()
        self._ids: _ById = {}
        self._waiting: _ById = {}
        """Those whose first request has no response, and some that have got one since."""

    def __len__(self) -> int:
        return len(self._tracks)

    def __iter__(self) -> Iterator[Track]:
        return iter(self._tracks.values())

    def add(self, track: Track) -> None:
        """Put a call behind the others, unless it is here."""
        number, origin = track.call.number, track.origin
        if number in self._tracks:
            return
        self._tracks[number] = track
        if origin is not None:
            at = _key(origin.exchange.request_id)
            self._ids.setdefault(at, []).append(track)
            if not origin.exchange.answered:
                self._waiting.setdefault(at, []).append(track)

    def discard(self, track: Track) -> None:
        """Take a call out, if it is here."""
        origin = track.origin
        if self._tracks.pop(track.call.number, None) is None or origin is None:
            return
        at = _key(origin.exchange.request_id)
        for by_id in (self._ids, self._waiting):
            tracks = by_id.get(at)
            if tracks is not None and track in tracks:
                tracks.remove(track)
                if not tracks:
                    del by_id[at]

    def oldest(self) -> Track:
        """Give the oldest call; there has to be one."""
        return next(iter(self._tracks.values()))

    def only(self, request_id: Any) -> Track | None:
        """Give the call that began with a request of this id, if there is exactly one."""
        found = None
        for track in self._ids.get(_key(request_id), ()):
            if track.origin is not None and same_id(track.origin.exchange.request_id, request_id):
                if found is not None:
                    return None
                found = track
        return found

    def waiting(self, request_id: Any) -> Live | None:
        """Give the exchange of the oldest request of this id that has no response."""
        at = _key(request_id)
        tracks = self._waiting.get(at)
        while tracks:
            for track in tracks:
                origin = track.origin
                if origin is None or origin.exchange.answered:
                    break
                if same_id(origin.exchange.request_id, request_id):
                    return origin
            else:
                return None
            tracks.remove(track)
        self._waiting.pop(at, None)
        return None


def _key(request_id: Any) -> Any:
    """Give what ids that are the same have in common."""
    kind = type(request_id)
    return request_id if kind is int or kind is str or kind is float else digest(request_id)
