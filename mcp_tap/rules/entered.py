"""What was entered into a form, field by field.  `contents` does the reading."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.contents import Flaw, faults_of
from mcp_tap.core.facts.ask import Answer
from mcp_tap.core.finding import Severity
from mcp_tap.core.forms import form_of
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule

PAGE: Final = "specification/2026-07-28/client/elicitation"
RESULT: Final = "specification/2026-07-28/schema#elicitresult"


def _hits(answer: Answer, flaw: Flaw, severity: Severity | None = None) -> Hits:
    found = faults_of(answer).get(flaw)
    if found is None:
        return None
    return [
        Hit(fault.message, answer.at("content", fault.field), spot=fault.field, severity=severity)
        for fault in found
    ]


@rule(
    "ELIC-036",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#response-actions",
    on="answer form",
    versions=ALL,
)
def content_required_missing(answer: Answer) -> Hits:
    """An accepted form lacks a field it requires.

    A form that was submitted has all its required fields: servers read them without looking. That
    a field has a default does not excuse the client, which is to send it.

    An empty text is there. Names that are required but defined nowhere are the server's fault.
    """
    return _hits(answer, "missing")


@rule(
    "ELIC-037",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#form-mode-security",
    on="answer form",
    versions=ALL,
)
def content_type_mismatch(answer: Answer) -> Hits:
    """A submitted value has another JSON type than its field.

    Input elements of a page give texts, and a client has to turn them into numbers and booleans
    before it sends them. `"3"` is no integer, and `"true"` is true in all the wrong places.

    5.0 is an integer, as JSON Schema has it, and any number fits a number field. Fields whose own
    type a form cannot have are not held against the client.
    """
    return _hits(answer, "type")


@rule(
    "ELIC-038",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#form-mode-security",
    on="answer form",
    versions=ALL,
)
def content_length_out_of_bounds(answer: Answer) -> Hits:
    """A submitted text is shorter than minLength or longer than maxLength.

    Characters count as JSON Schema counts them, by code points: an emoji is one, not two as in the
    strings of many languages. Bounds that make no sense are ignored.
    """
    return _hits(answer, "length")


@rule(
    "ELIC-039",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#form-mode-security",
    on="answer form",
    versions=ALL,
)
def content_number_out_of_range(answer: Answer) -> Hits:
    """A submitted number is below minimum or above maximum.

    The bounds themselves are allowed. A client that shows a form checks them before it submits:
    nobody else can tell the user in time. Bounds that make no sense are ignored.
    """
    return _hits(answer, "range")


@rule(
    "ELIC-040",
    severity="warning",
    level="must",
    blames="client",
    spec=f"{PAGE}#requested-schema",
    on="answer form",
    versions=ALL,
)
def content_format_invalid(answer: Answer) -> Hits:
    """A submitted text does not have the format its field asks for.

    Only what is clearly wrong is reported: an address without a single @ in it, a uri without a
    scheme, a date the calendar does not have or in another order than year, month, day, a point of
    time without an offset (the value of a browser's own input has none).

    Addresses of any script pass, formats a form cannot ask for are not checked, and an optional
    field may be empty.
    """
    return _hits(answer, "format")


@rule(
    "ELIC-041",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#requested-schema",
    on="answer form",
    versions=ALL,
)
def content_option_unknown(answer: Answer) -> Hits:
    """A submitted choice is not one of the values the field offers.

    Values are compared exactly, upper and lower case too. Of a titled choice the value is sent,
    not the title people see: that is the usual slip.

    Lists of options that make no sense are ignored, and so are those under a keyword clients are
    not told to look at. To select nothing is a matter of how many must be.
    """
    return _hits(answer, "option")


@rule(
    "ELIC-042",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#requested-schema",
    on="answer form",
    versions=RECENT,
)
def content_selection_count(answer: Answer) -> Hits:
    """A choice of several has fewer than minItems or more than maxItems entries.

    Entries are counted as they are, the same one twice is two. A minimum that is above the number
    of options cannot be met, and is ignored.
    """
    return _hits(answer, "count")


@rule(
    "ELIC-043",
    severity="warning",
    level="should",
    blames="client",
    spec=f"{PAGE}#response-actions",
    on="answer form",
    versions=ALL,
)
def content_unknown_field(answer: Answer) -> Hits:
    """Content has a field the form did not define.

    The user was not asked for it, so it came from elsewhere: a second form, a hidden input, the
    client itself. JSON Schema allows more than it defines, so this is an error only where the
    server's schema says that there are no additional properties.
    """
    if "unknown" not in faults_of(answer):
        return None
    return _hits(answer, "unknown", "error" if form_of(answer.ask).closed else None)


@rule(
    "ELIC-044",
    severity="error",
    level="must",
    blames="client",
    spec=RESULT,
    on="answer form",
    versions=ALL,
)
def content_nested_value(answer: Answer) -> Hits:
    """A submitted value is an object, or an array of anything but strings.

    Forms are flat: what can be entered is a text, a number, a boolean or a choice of strings,
    whatever the server's schema says. Servers have no type for anything else.
    """
    return _hits(answer, "nested")


@rule(
    "ELIC-045",
    severity="warning",
    level="must",
    blames="client",
    spec=RESULT,
    on="answer form",
    versions=ALL,
)
def content_null_value(answer: Answer) -> Hits:
    """A submitted value is null.

    What was left blank is left out. Several servers let null pass for an optional field, others
    refuse the whole answer because of it.
    """
    return _hits(answer, "null")


@rule(
    "ELIC-046",
    severity="note",
    level="should",
    blames="client",
    spec=f"{PAGE}#requested-schema",
    on="answer form",
    versions=RECENT,
)
def default_not_submitted(answer: Answer) -> Hits:
    """An accepted form omits a field for which the server offered a default.

    Clients that support defaults fill them in beforehand, so that the field is sent unless it was
    cleared. The user may have done just that, and support is a client's choice: only a note. A
    field that is also required is ELIC-036 besides, which is more than a note.
    """
    return _hits(answer, "default")
