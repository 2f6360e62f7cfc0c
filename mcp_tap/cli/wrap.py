"""`mcp-tap wrap`: put the tap into clients' configuration files."""

from __future__ import annotations

import os

import click

from mcp_tap.cli.common import TapCommand, option
from mcp_tap.cli.wrapping import Done, Job, executable, left_alone, wrapping_options
from mcp_tap.errors import TapError, UsageError
from mcp_tap.wrapping import entries
from mcp_tap.wrapping.notation import Unreadable


@click.command("wrap", cls=TapCommand)
@click.argument("server", required=False)
@option("-a", "--all", "every", is_flag=True, help="Every server of the files that are meant.")
@wrapping_options
def command(
    *,
    server: str | None,
    every: bool,
    client: str | None,
    config_file: str | None,
    dry_run: bool,
) -> int:
    """Put the tap before SERVER in the configuration of every client that has it.

    Without SERVER: all servers of --client, of --config-file, or with --all of every client; with
    none of these, list what is there and change nothing.

    A server that is a command is started through mcp-tap stdio from then on.  One at a URL gets a
    tap's address instead, and the command that starts this tap is printed.  Everything else in a
    file stays as it is, to the byte; a copy is made first.  mcp-tap unwrap takes it all back.

    Files of a project are looked for from this folder up to the root of its repository.  Restart
    the client afterwards.
    """
    if server is not None and every:
        raise UsageError("usage", "SERVER and --all exclude each other", help="leave out one")
    job = Job(server, client, config_file)
    found = job.find(every_project=False)
    changes = bool(server is not None or every or client or config_file)
    program = executable() if changes else ""
    results: list[Done] = []
    for one in found:
        shape = one.client.shape
        try:
            if changes:
                data, outcomes = entries.wrap(
                    one.doc, one.paths, shape, program=program, ports=job.ports
                )
                done = Done(one, outcomes, data)
                results.append(job.write(done, backup=True, dry_run=dry_run))
            else:
                seen = [entries.look(one.doc, path, shape, job.ports) for path in one.paths]
                results.append(Done(one, seen))
        except Unreadable as error:
            job.fail(left_alone(one.file.path, error))
        except TapError as error:
            job.fail(error)
    code = job.end(results, dry_run=dry_run)
    started = any(o.state == "wrapped" and o.kind == "stdio" for d in results for o in d.outcomes)
    if changes and started and os.environ.get("MCP_TAP_HOME"):
        job.out.warn(
            "MCP_TAP_HOME is set here; what a client starts may not have it, and records elsewhere"
        )
    if not any(done.outcomes for done in results):
        job.out.say("no servers there" if found else "no client's configuration was found here")
    elif not changes:
        job.out.say("nothing was changed; mcp-tap wrap SERVER wraps one, mcp-tap wrap --all all")
    return code
