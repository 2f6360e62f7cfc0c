from __future__ import annotations

from tests.cases import answer, asking, call, exchange, form, ids, traffic


def asked(**asks):
    return traffic(exchange(call(), answer(asking(asks))))


def test_texts_are_read_up_to_a_number_of_characters_of_a_message():
    title = {"type": "string", "title": "Пароль"}
    long = {"type": "string", "description": "x " * 4000}
    case = asked(a=form("Form", q1=title), b=form("Form", q1=title))
    assert ids(case, "SEC") == ["SEC-002", "SEC-002"]
    many = {f"long{n}": form("Form", q1=long) for n in range(6)}
    assert ids(asked(a=form("Form", q1=title), **many, z=form("Form", q1=title)), "SEC") == [
        "SEC-002"
    ]


def test_names_are_read_all_the_same():
    long = {"type": "string", "description": "x " * 4000}
    many = {f"long{n}": form("Form", q1=long) for n in range(6)}
    case = asked(**many, z=form("Form", password={"type": "string"}))
    assert ids(case, "SEC") == ["SEC-001"]


def test_texts_of_other_types_are_no_texts():
    assert ids(asked(a=form("Form", q1={"type": "string", "title": 1})), "SEC") == []
    assert ids(asked(a=form("Form", q1={"type": "string", "title": ["Password"]})), "SEC") == []
    assert ids(asked(a=form("Form", q1={"type": {"a": 1}, "title": "Password"})), "SEC") == []
    assert ids(asked(a=form("Form", q1={"type": [], "title": "Password"})), "SEC") == []
    assert ids(asked(a=form("Form", q1={"type": [[]], "title": "Password"})), "SEC") == []
