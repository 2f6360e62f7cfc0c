from __future__ import annotations

import pytest

from mcp_tap.answers.person import Talk
from mcp_tap.answers.question import Question
from mcp_tap.cli import asking_rows
from mcp_tap.core.forms import Field
from mcp_tap.views.look import ASCII, text_of

DEPLOY = {
    "type": "object",
    "properties": {
        "proceed": {"type": "boolean", "title": "Go ahead"},
        "strategy": {
            "type": "string",
            "description": "How to do it",
            "oneOf": [
                {"const": "rolling", "title": "One after the other"},
                {"const": "blue-green", "title": "All at once"},
            ],
            "default": "rolling",
        },
    },
    "required": ["proceed"],
}


def form(schema=DEPLOY, message="Roll out?"):
    params = {"message": message, "requestedSchema": schema}
    return Question(
        key="confirm",
        ask="form",
        params=params,
        server="desk",
        method="tools/call",
        name="deploy",
        round=2,
    )


def shown(question, *, of=1, concerns=()):
    rows = asking_rows.question_rows(question, ASCII, number=1, of=of, concerns=concerns)
    return [text_of(row).rstrip() for row in rows]


def asked(question, *lines):
    """Give what stands there after these lines were typed."""
    talk = Talk(question)
    for line in lines:
        talk.enter(line)
    rows = asking_rows.prompt_rows(talk, talk.prompt)
    return [text_of(row).rstrip() for row in rows], asking_rows.label(talk.prompt)


def test_question_says_who_asks_and_for_what():
    rows = shown(form(), of=2, concerns=["it smells"])
    assert rows[2:] == [
        "desk asks, for tools/call deploy, round 2  (1 of 2)",
        "  confirm (form)",
        "  | Roll out?",
        "  warning: it smells",
        "  proceed*  yes or no  Go ahead",
        "  strategy  one of 2",
        "  * required.  :d declines, :c cancels, :? says what else can be typed",
    ]


def test_what_is_dubious_is_broken_between_words():
    words = "server asks for a secret in a form: field password is named like one of them (SEC-001)"
    told = shown(form(), concerns=[words])[5:7]
    assert max(map(len, told)) <= 78
    assert " ".join(" ".join(told).split()) == f"warning: {words}"


def test_choice_is_numbered_and_its_default_stands_in_brackets():
    rows, label = asked(form(), "y")
    assert rows == [
        "",
        "strategy  one of 2  How to do it",
        "   1 rolling  One after the other",
        "   2 blue-green  All at once",
    ]
    assert label == "strategy [1 rolling]: "
    assert asked(form())[1] == "proceed*: "


def test_line_that_was_not_taken_says_why_and_nothing_else():
    rows, label = asked(form(), "perhaps")
    assert rows == ["  write y or n"]
    assert label == "proceed*: "


def test_review_shows_what_is_sent_and_what_is_left_out():
    rows, label = asked(form(), "y", ":-")
    assert rows == ["", "  to be sent:", "    proceed  true", "  left out: strategy"]
    assert label == "accept, edit, decline, cancel, pass? [accept] "
    rows, _ = asked(form(), "y", "", "e", "n", "")
    assert rows[2:] == ["    proceed   false", '    strategy  "rolling"']


def test_help_names_what_can_be_typed_here():
    rows, _ = asked(form(), ":?")
    assert "  :d          decline: say no" in rows
    assert any('"two\\nlines"' in row for row in rows)
    rows, _ = asked(form(), "y", "", "?")
    assert "  d           decline: say no" in rows
    assert not any(":-" in row for row in rows)


EVIL = "\x1b[2J\r\n\u202eaccept? \x00"


def test_nothing_from_the_wire_reaches_the_terminal_as_it_is():
    schema = {
        "type": "object",
        "title": EVIL,
        "properties": {
            EVIL: {
                "type": "string",
                "title": EVIL,
                "description": EVIL,
                "oneOf": [{"const": EVIL, "title": EVIL}],
                "default": EVIL,
            }
        },
        "required": [EVIL],
    }
    params = {"message": EVIL, "requestedSchema": schema, "url": EVIL, "systemPrompt": EVIL}
    block = {"type": EVIL, "mimeType": EVIL}
    params["messages"] = [{"role": EVIL, "content": [{"text": EVIL}, block, 7]}, 7]
    for kind in ("form", "url", "sampling", "roots", "other"):
        question = Question(key=EVIL, ask=kind, params=params, server=EVIL, method=EVIL, name=EVIL)
        texts = shown(question, concerns=[EVIL])
        for lines in ((), ("",), (":?",), ("", "x"), ("", "e"), ("x", ".")):
            talk = Talk(question)
            for line in lines:
                if talk.said is None:
                    talk.enter(line)
            texts += [text_of(row) for row in asking_rows.prompt_rows(talk, talk.prompt)]
            texts.append(asking_rows.label(talk.prompt))
        for text in texts:
            assert text.isprintable(), repr(text)
            assert "\u202e" not in text


def test_every_line_of_a_message_stands_behind_a_bar():
    rows = shown(form(message="one\naccept, decline? \nthree"))
    assert rows[4:7] == ["  | one", "  | accept, decline?", "  | three"]
    rows = shown(form(message="x\n" * 100))
    assert rows.count("  | x") == asking_rows.MOST_LINES
    assert "  | .. (it goes on)" in rows
    rows = shown(form(message="y" * 9000))
    assert sum(row.count("y") for row in rows if row.startswith("  |")) == 4000


def link(url):
    return Question(key="consent", ask="url", params={"mode": "url", "message": "Go", "url": url})


def styled(question):
    rows = asking_rows.question_rows(question, ASCII, number=1, of=1, concerns=())
    return [[piece for piece in row if piece[0]] for row in rows]


@pytest.mark.parametrize(
    ("url", "pieces", "leads"),
    [
        (
            "https://registry.example.com/connect/abc?x=1#y",
            ("https://", "registry.example.com", "/connect/abc?x=1#y"),
            "registry.example.com",
        ),
        (
            "http://good.com@evil.com:8080/good.com",
            ("http://good.com@", "evil.com", ":8080/good.com"),
            "evil.com",
        ),
        ("https://a.com/?u=https://b.com@c", ("https://", "a.com", "/?u=https://b.com@c"), "a.com"),
        (
            "https://xn--pple-43d.com/",
            ("https://", "xn--pple-43d.com", "/"),
            "xn--pple-43d.com, which reads \u0430pple.com",
        ),
        ("https://EXAMPLE.com", ("https://", "EXAMPLE.com"), "example.com"),
        ("https://[::1]:3/", ("https://", "[::1]", ":3/"), "::1"),
    ],
)
def test_link_is_shown_whole_with_its_host_once_more(url, pieces, leads):
    rows = styled(link(url))
    (row,) = [row for row in rows if any(text in ("https://", pieces[0]) for text, _ in row)]
    assert tuple(text for text, _ in row[1:]) == pieces
    assert [style for _, style in row[1:]][1] == "strong"
    assert f"  leads to {leads}" in shown(link(url))


@pytest.mark.parametrize("url", ["", "nonsense", "javascript:alert(1)", "x" * 100_000])
def test_link_that_leads_nowhere_is_shown_all_the_same(url):
    rows = shown(link(url))
    assert any(row == ("  | " + url[:16384]).rstrip() for row in rows)
    assert not any("leads to" in row for row in rows)
    assert any("more characters follow" in row for row in rows) == (len(url) > 16384)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 0, "maxLength": 5}, "text, 0 to 5 characters"),
        ({"type": "string", "minLength": 0}, "text"),
        ({"type": "string", "format": "date", "minLength": 10}, "a date, YYYY-MM-DD, at least 10"),
        ({"type": "integer", "minimum": 0}, "whole number, at least 0"),
        ({"type": "number", "maximum": 2.5}, "number, at most 2.5"),
        ({"type": "boolean"}, "yes or no"),
        ({"type": "string", "enum": ["a", "b"]}, "one of 2"),
        (
            {"type": "array", "items": {"enum": ["a"]}, "maxItems": 1},
            "some of 1, at most 1 of them",
        ),
        ({"type": "array"}, "several texts"),
        ({"type": "object"}, "of a type that forms do not have"),
        ({"type": ["string", "null"]}, "of a type that forms do not have"),
    ],
)
def test_what_can_be_entered_is_said_in_words(schema, words):
    assert asking_rows.type_words(Field("f", schema)).startswith(words)


def test_sampling_shows_what_a_model_would_be_given():
    params = {
        "systemPrompt": "Be brief",
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "Capital\nof France?"}},
            {"role": "user", "content": {"type": "image", "mimeType": "image/png"}},
        ],
        "maxTokens": 100,
        "tools": [{}, {}],
    }
    rows = shown(Question(key="s", ask="sampling", params=params))
    assert rows[4:] == [
        "  | system: Be brief",
        "  | user: Capital",
        "  | of France?",
        "  | user: [image, image/png]",
        "  at most 100 tokens",
        "  2 tools could be called; a person answers in words",
    ]
    assert asked(Question(key="s", ask="sampling"))[1] == "> "
    rows, label = asked(Question(key="s", ask="sampling"), "Paris", ".")
    assert rows == ["", "  to be sent:", "    Paris"]
    assert label == "accept, edit, fail, pass? [accept] "


def test_roots_ask_for_folders():
    rows, label = asked(Question(key="r", ask="roots"))
    assert label == "folder: "
    assert "an empty line ends it" in rows[0]


@pytest.mark.parametrize(
    ("line", "words"),
    [("a", "accepted"), ("d", "declined"), ("c", "cancelled"), ("p", "asked"), ("f", "fails")],
)
def test_what_was_said_is_said_back(line, words):
    talk = Talk(link("https://example.com"))
    talk.enter(line)
    assert words in text_of(asking_rows.outcome_row(talk))
    talk = Talk(Question(key="r", ask="roots"))
    talk.enter("")
    talk.enter("a")
    assert "answered" in text_of(asking_rows.outcome_row(talk))
