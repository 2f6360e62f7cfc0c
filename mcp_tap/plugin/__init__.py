"""What the pytest plugin is made of; `mcp_tap.pytest_plugin` alone knows pytest.

Nothing of it is imported before a test uses the tap.
"""
