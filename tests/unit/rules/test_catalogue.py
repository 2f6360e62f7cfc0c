from mcp_tap.rules.catalogue import BY_ID, BY_NAME, FAMILIES, RULES


def test_every_rule_is_found_by_id_and_by_name():
    assert len(BY_ID) == len(BY_NAME) == len(RULES)
    assert all(BY_NAME[r.name] is BY_ID[r.id] for r in RULES)


def test_families_are_listed_in_order_so_that_none_is_listed_twice():
    assert list(FAMILIES) == sorted(set(FAMILIES))
