from __future__ import annotations

import pytest

from mcp_tap import config
from mcp_tap.config import Setting
from mcp_tap.errors import ConfigError


class Commands:
    """Two commands with a few options, as the command line would describe them."""

    TABLE = (
        Setting(key="listen", param="listen"),
        Setting(key="label", param="label"),
        Setting(key="sync", param="sync", shape="flag"),
        Setting(key="max-body", param="max_body"),
        Setting(key="header", param="header", shape="many"),
        Setting(key="insecure", param="insecure", shape="flag"),
        Setting(key="cacert", param="cacert", path=True),
        Setting(key="redact", param="redact", shape="many", adds_up=True),
        Setting(key="no-default-redaction", param="no_default_redaction", shape="flag"),
    )
    SHOW = (
        Setting(key="format", param="form"),
        Setting(key="depth", param="depth"),
        Setting(key="verbose", param="verbose", shape="count"),
    )

    def commands(self):
        return ["http", "show"]

    def options(self, command):
        return {s.key: s for s in (self.TABLE if command == "http" else self.SHOW)}

    def tables(self, command):
        return {"limits": read_limits} if command == "show" else {}


def read_limits(value, where):
    if value != {"calls": 3}:
        raise ConfigError("bad-value", "limits are not as they should be", where=where)


KNOWN = Commands()


@pytest.fixture
def repository(tmp_path):
    """A repository with a folder in it, where a person stands."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    return tmp_path


def values(files, command="http"):
    return {name: f.value for name, f in config.settings(files, KNOWN, command).items()}


def load(cwd, **where):
    return config.load(KNOWN, cwd=cwd, **where)


def test_project_file_is_found_from_below(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "7000"\n')
    assert values(load(repository / "src")) == {"listen": "7000"}


def test_search_stops_at_the_repository_root(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "7000"\n')
    inner = repository / "src" / "inner"
    (inner / ".git").mkdir(parents=True)
    assert load(inner) == []


def test_outside_of_a_repository_a_parent_is_not_asked(tmp_path):
    (tmp_path / "mcp-tap.toml").write_text('[http]\nlisten = "7000"\n')
    below = tmp_path / "below"
    below.mkdir()
    assert load(below) == []
    assert values(load(tmp_path)) == {"listen": "7000"}


def test_nearer_file_hides_the_farther_one(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "1"\nlabel = "far"\n')
    (repository / "src" / "mcp-tap.toml").write_text('[http]\nlisten = "2"\n')
    assert values(load(repository / "src")) == {"listen": "2"}


def test_pyproject_counts_only_with_our_table(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "1"\n')
    inner = repository / "src" / "pyproject.toml"
    inner.write_text('[project]\nname = "x"\ndependencies = ["mcp-tap-proxy"]\n')
    assert values(load(repository / "src")) == {"listen": "1"}
    inner.write_text('[tool.mcp-tap.http]\nlisten = "2"\n')
    found = config.settings(load(repository / "src"), KNOWN, "http")["listen"]
    assert (found.value, found.where) == ("2", f"{inner} [tool.mcp-tap.http]")


def test_own_file_beats_pyproject_beside_it(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "1"\n')
    (repository / "pyproject.toml").write_text('[tool.mcp-tap.http]\nlisten = "2"\n')
    assert values(load(repository)) == {"listen": "1"}


def test_broken_pyproject_of_somebody_else_is_no_concern_of_ours(repository):
    (repository / "pyproject.toml").write_text("[project\n")
    assert load(repository) == []


def test_pyproject_table_with_underscore_is_an_error_with_the_right_name(repository):
    (repository / "pyproject.toml").write_text("[tool.mcp_tap]\nlabel = 'x'\n")
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.help == "did you mean [tool.mcp-tap]?"


def test_command_table_beats_the_top_of_the_file(repository):
    (repository / "mcp-tap.toml").write_text('label = "all"\n[http]\nlabel = "one"\n')
    assert values(load(repository)) == {"label": "one"}


def test_top_of_the_file_reaches_only_commands_with_the_option(repository):
    (repository / "mcp-tap.toml").write_text('label = "all"\n')
    files = load(repository)
    assert values(files, "http") == {"label": "all"}
    assert values(files, "show") == {}


def test_underscores_are_read_as_dashes(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nmax_body = "1k"\n')
    assert values(load(repository)) == {"max_body": "1k"}


def test_one_setting_in_two_spellings_is_refused(repository):
    (repository / "mcp-tap.toml").write_text('[http]\nmax_body = "1k"\nmax-body = "2k"\n')
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.code == "setting-twice"


def test_files_are_not_merged(repository, tmp_path_factory):
    user = tmp_path_factory.mktemp("user") / "config.toml"
    user.write_text('[http]\nlisten = "1"\nlabel = "mine"\n')
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "2"\n')
    assert values(load(repository, user=user)) == {"listen": "2"}


def test_user_file_decides_where_no_project_file_is(repository, tmp_path_factory):
    user = tmp_path_factory.mktemp("user") / "config.toml"
    user.write_text('[http]\nlisten = "1"\n')
    assert values(load(repository, user=user)) == {"listen": "1"}


def test_missing_user_file_is_no_error(repository):
    assert load(repository, user=repository / "nowhere.toml") == []


def test_redact_adds_up_over_files_and_tables(repository, tmp_path_factory):
    user = tmp_path_factory.mktemp("user") / "config.toml"
    user.write_text('redact = ["key:a", "key:b"]\n')
    (repository / "mcp-tap.toml").write_text('redact = "key:c"\n[http]\nredact = ["key:a"]\n')
    found = config.settings(load(repository, user=user), KNOWN, "http")["redact"]
    assert sorted(found.value) == ["key:a", "key:b", "key:c"]
    assert found.where == (
        f"{repository / 'mcp-tap.toml'}, {repository / 'mcp-tap.toml'} [http], {user}"
    )


def test_explicit_file_replaces_the_project_file_but_not_what_the_user_redacts(
    repository, tmp_path_factory
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (repository / "mcp-tap.toml").write_text('[http]\nlisten = "1"\n')
    (elsewhere / "user.toml").write_text('redact = ["key:a"]\n')
    (elsewhere / "mine.toml").write_text('[http]\nlisten = "2"\n')
    files = load(repository, user=elsewhere / "user.toml", explicit=elsewhere / "mine.toml")
    assert values(files) == {"listen": "2", "redact": ["key:a"]}


def test_explicit_file_that_is_missing_is_an_error(repository):
    with pytest.raises(ConfigError) as error:
        load(repository, explicit=repository / "nowhere.toml")
    assert error.value.code == "config-unreadable"
    assert "no such file" in error.value.why


def test_explicit_pyproject_is_read_by_its_table(repository):
    path = repository / "src" / "pyproject.toml"
    path.write_text('[tool.mcp-tap.http]\nlisten = "2"\n')
    assert values(load(repository, explicit=path)) == {"listen": "2"}


@pytest.mark.parametrize(
    ("text", "where", "help"),
    [
        ("[http]\nlistn = 1\n", "[http]", 'did you mean "listen"?'),
        ("lable = 'x'\n", "", 'did you mean "label"?'),
        ("[htp]\nlisten = 1\n", "", 'did you mean "http"?'),
        ("[http]\nformat = 'x'\n", "[http]", "mcp-tap http --help lists them"),
        ("zzzzzz = 1\n", "", "mcp-tap config lists them"),
    ],
)
def test_unknown_setting_is_answered_with_the_nearest(repository, text, where, help):
    path = repository / "mcp-tap.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.code == "unknown-setting"
    assert error.value.where == f"{path} {where}".strip()
    assert error.value.help == help


@pytest.mark.parametrize(
    "text",
    [
        "[show]\ndetph = 1\n",
        "header = ['A: b']\n",
        "[show]\nverbose = true\n",
        "[show]\nheader = 1\n",
    ],
)
def test_what_is_wrong_for_one_command_stops_only_that_one(repository, text):
    (repository / "mcp-tap.toml").write_text(
        "[http]\nlisten = 1\n" + text if text[0] == "[" else text
    )
    wrong, other = ("show", "http") if text[0] == "[" else ("http", "show")
    assert config.settings(load(repository, command=other), KNOWN, other) is not None
    for command in (wrong, None):
        with pytest.raises(ConfigError):
            load(repository, command=command)


@pytest.mark.parametrize(
    ("text", "stopped"),
    [("lable = 1\n", "http"), ("formt = 1\n", "show"), ("[htp]\n", "http"), ("zzzzzz = 1\n", "")],
)
def test_mistyped_name_above_the_tables_stops_the_command_it_was_meant_for(
    repository, text, stopped
):
    path = repository / "mcp-tap.toml"
    path.write_text(text)
    for command in KNOWN.commands():
        if command == stopped:
            with pytest.raises(ConfigError):
                load(repository, command=command)
            continue
        (said,) = config.unread(load(repository, command=command), KNOWN, command)
        assert said.startswith('nothing reads "')
        assert f" in {path}" in said
        assert ("did you mean" in said) == bool(stopped)


def test_what_some_command_reads_is_not_called_unread(repository):
    (repository / "mcp-tap.toml").write_text("max_body = 1\ndepth = 1\n[show]\nx = 1\n")
    assert list(config.unread(load(repository, command="http"), KNOWN, "http")) == []


@pytest.mark.parametrize("data", [b"[http\n", b"a = \xff\n", b"a = 1\na = 2\n"])
def test_file_that_is_no_toml_is_told_with_its_place(repository, data):
    (repository / "mcp-tap.toml").write_bytes(data)
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.code == "config-syntax"
    assert error.value.why


@pytest.mark.parametrize(
    "line", ['header = ["A: b"]', "insecure = true", "no_default_redaction = true"]
)
def test_project_file_may_not_send_headers_or_switch_protections_off(repository, line):
    path = repository / "mcp-tap.toml"
    path.write_text(f"[http]\n{line}\n")
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.code == "setting-not-trusted"
    assert error.value.why
    assert len(values(load(repository, explicit=path))) == 1


def test_paths_are_taken_from_the_folder_of_their_file(repository):
    (repository / "mcp-tap.toml").write_text('[http]\ncacert = "certs/dev.pem"\n')
    assert values(load(repository / "src")) == {"cacert": str(repository / "certs" / "dev.pem")}


@pytest.mark.parametrize("path", ["../other.pem", "/etc/ssl/x.pem", "a/../../x", "~/x.pem"])
def test_project_file_may_not_name_paths_outside_its_folder(repository, path):
    own = repository / "mcp-tap.toml"
    own.write_text(f'[http]\ncacert = "{path}"\n')
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.code == "setting-not-trusted"
    assert values(load(repository, explicit=own))


@pytest.mark.parametrize("text", ["http = 5\n", '[[http]]\nlabel = "x"\n'])
def test_what_has_the_name_of_a_command_is_a_table(repository, text):
    (repository / "mcp-tap.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert (error.value.code, error.value.help) == ("setting-type", "[http]")


def test_a_path_no_file_can_have_is_refused(repository):
    (repository / "mcp-tap.toml").write_text('[http]\ncacert = "a\\u0000b"\n')
    with pytest.raises(ConfigError) as error:
        values(load(repository))
    assert error.value.code == "bad-value"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("http", 'sync = "yes"'),
        ("http", "sync = 1"),
        ("http", 'listen = ["a"]'),
        ("http", "listen = true"),
        ("http", "listen = 2026-07-28"),
        ("http", "redact = [1]"),
        ("http", "redact = 1"),
        ("show", "verbose = true"),
        ("http", "listen = {a = 1}"),
    ],
)
def test_value_of_the_wrong_type_is_refused(repository, command, line):
    (repository / "mcp-tap.toml").write_text(f"[{command}]\n{line}\n")
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert error.value.code == "setting-type"


def test_numbers_stand_for_themselves(repository):
    (repository / "mcp-tap.toml").write_text("[http]\nlisten = 7000\n[show]\nverbose = 2\n")
    files = load(repository)
    assert values(files) == {"listen": 7000}
    assert values(files, "show") == {"verbose": 2}


@pytest.mark.parametrize(
    ("word", "near"), [("max-body", "max-body"), ("maxbody", "max-body"), ("qqq", None)]
)
def test_the_nearest_name_is_given_where_one_is_near(word, near):
    assert config.nearest(word, ["listen", "max-body"]) == near


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "{b = " * 5000 + "1" + "}" * 5000,
        "listen = " + "1" * 5000,
    ],
)
def test_what_cannot_be_read_is_an_error_of_the_file(repository, text):
    (repository / "mcp-tap.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load(repository)
    assert "mcp-tap.toml" in str(error.value)


def test_what_is_no_option_is_read_by_its_own_reader(repository):
    file = repository / "mcp-tap.toml"
    file.write_text("[show.limits]\ncalls = 3\n")
    load(repository, command="show")
    file.write_text("[show.limits]\ncalls = 4\n")
    load(repository, command="http")  # another command's matter
    with pytest.raises(ConfigError, match="not as they should") as error:
        load(repository, command="show")
    assert error.value.where == f"{file} [show]"


def test_a_table_that_is_nearly_known_is_named(repository):
    (repository / "mcp-tap.toml").write_text("[show.limit]\ncalls = 3\n")
    with pytest.raises(ConfigError) as error:
        load(repository, command="show")
    assert error.value.help == 'did you mean "limits"?'
