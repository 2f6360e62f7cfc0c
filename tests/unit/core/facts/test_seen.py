from mcp_tap.core.facts.seen import MOST_CLIENTS, Run


def test_a_client_has_one_memory_and_another_client_another():
    run = Run()
    assert run.client("a", 0.0) is run.client("a", 1.0)
    assert run.client("a", 0.0) is not run.client("b", 0.0)
    assert run.client("a", 0.0).run is run


def test_clients_are_bounded_in_number():
    run = Run()
    for name in range(MOST_CLIENTS + 10):
        run.client(name, 0.0)
    assert len(run.clients) == MOST_CLIENTS
