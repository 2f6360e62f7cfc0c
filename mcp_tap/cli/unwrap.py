"""`mcp-tap unwrap`: take the tap out of clients' configuration files."""

from __future__ import annotations

import click

from mcp_tap.cli.common import TapCommand
from mcp_tap.cli.wrapping import Done, Job, left_alone, wrapping_options
from mcp_tap.errors import TapError
from mcp_tap.wrapping import entries
from mcp_tap.wrapping.notation import Unreadable


@click.command("unwrap", cls=TapCommand)
@click.argument("server", required=False)
@wrapping_options
def command(
    *, server: str | None, client: str | None, config_file: str | None, dry_run: bool
) -> int:
    """Take the tap out of SERVER in every client's configuration; without SERVER, out of all.

    What mcp-tap wrap changed is put back to the byte, whatever was edited around it since.  Restart
    the client afterwards.
    """
    job = Job(server, client, config_file)
    results: list[Done] = []
    for one in job.find(every_project=True):
        try:
            data, outcomes = entries.unwrap(one.doc, one.paths, one.client.shape, ports=job.ports)
            told = [o for o in outcomes if o.state != "not wrapped" or server is not None]
            results.append(job.write(Done(one, told, data), backup=False, dry_run=dry_run))
        except Unreadable as error:
            job.fail(left_alone(one.file.path, error))
        except TapError as error:
            job.fail(error)
    code = job.end(results, dry_run=dry_run)
    if not any(done.outcomes for done in results):
        job.out.say("nothing is wrapped")
    return code
