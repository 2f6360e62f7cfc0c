from __future__ import annotations

from tests.saying import asking, call, done


def test_the_time_of_the_server_is_that_of_all_rounds():
    made = call(asking(1, took=0.25), done(2, took=0.5), done(3))
    assert made.server_s == 0.75
