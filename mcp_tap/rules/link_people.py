"""Links of elicitations and the people they are meant for: who opens them, who logs in where."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.links import Link
from mcp_tap.core.text import brief
from mcp_tap.core.values import short
from mcp_tap.rules.base import RECENT, Hit, Hits, rule
from mcp_tap.rules.link_secrets import url_of
from mcp_tap.rules.urls import Url, read_url

_BROWSERS: Final = ("Mozilla/", "Opera/")
"""What browsers call themselves, and only they."""
_PORTS: Final = {"http": 80, "https": 443}
_SECOND_LEVEL: Final = frozenset(
    {
        *("ac", "co", "com", "edu", "gov", "gob", "go", "gouv", "gv", "ltd", "mil", "ne", "net"),
        *("nic", "nom", "or", "org", "plc", "sch", "web", "info", "biz", "id", "k12", "lg", "ad"),
        *("asn", "govt", "iwi", "geek", "school", "in", "firm", "gen", "ind", "res", "me", "nhs"),
    }
)
"""Labels below a country's domain under which others register their names."""
_SHARED: Final = frozenset(
    {
        *("github.io", "gitlab.io", "pages.dev", "workers.dev", "vercel.app", "netlify.app"),
        *("herokuapp.com", "fly.dev", "onrender.com", "railway.app", "run.app", "web.app"),
        *("firebaseapp.com", "appspot.com", "cloudfunctions.net", "azurewebsites.net"),
        *("azurecontainerapps.io", "azure-api.net", "azurestaticapps.net", "cloudapp.net"),
        *("amazonaws.com", "cloudfront.net", "elasticbeanstalk.com", "awsapprunner.com"),
        *("on.aws", "deno.dev", "replit.app", "repl.co", "ngrok.app", "ngrok.io"),
        *("ngrok-free.app", "trycloudflare.com", "loca.lt", "hf.space", "modal.run"),
        *("supabase.co", "okta.com", "auth0.com", "onmicrosoft.com", "b2clogin.com"),
        *("us.auth0.com", "eu.auth0.com", "au.auth0.com", "oktapreview.com", "zendesk.com"),
        *("myshopify.com", "wordpress.com", "blogspot.com", "glitch.me", "surge.sh"),
    }
)
"""Domains below which strangers are neighbours."""


@rule(
    "SEC-018",
    severity="note",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#phishing",
    on="ask url",
    versions=RECENT,
)
def url_third_party_authorize(ask: Ask) -> Hits:
    """The url leads straight to a third-party OAuth authorization endpoint.

    Instead of a page of the MCP server: nobody checks that who opens it is who was asked, so the
    link can be sent on to a victim, whose login then serves the attacker.  The server's own page
    should compare the two first.  Domains are compared as they are registered, by a short list of
    suffixes under which others register (the whole list of the world would weigh more than this
    note does).

    A warning where the link leads to an authorization server which this server's own metadata,
    seen in the run, names: url mode must not be used to authorize the MCP client itself.
    """
    url = url_of(ask)
    if url is None or url.host is None or "response_type" not in url.query:
        return None
    given = {name for name, value in url.pairs if value}
    if not {"response_type", "client_id"} <= given:
        return None
    if any(_is_at(issuer, url) for issuer in ask.flow.seen.run.links.servers):
        words = "server sends a url of its own authorization server, although url mode must not "
        return Hit(words + "be used for MCP authorization", ask.at("url"), severity="warning")
    server = read_url(ask.flow.upstream) if ask.flow.http else None
    if server is None or server.host is None or _registered(server) == _registered(url):
        return None
    words = f"server sends a url straight to the authorization endpoint of {brief(url.host, 60)}"
    return Hit(words + " instead of a page of its own", ask.at("url"))


@rule(
    "SEC-019",
    severity="error",
    level="heuristic",
    blames="client",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="http",
    versions=RECENT,
    transports=("http",),
)
def url_fetched_by_client(f: Flow) -> Hits:
    """The MCP client itself requests the elicitation url before the user has answered.

    It must not be opened, not even for a preview, before the user consents; and the user's browser
    must open it, not the client.  Such a request is seen only where the link leads to the server
    behind the tap and the client takes it there through the tap.  It is the client's where it
    carries the client's credential or calls itself what the client calls itself; a browser without
    the credential is the user.  Once the client has answered nothing is said any more.
    """
    head = f.head
    if head is None or head.method not in ("GET", "HEAD"):
        return None
    links = f.seen.run.links.open
    if not links:
        return None
    agent = f.header("user-agent")
    known = agent is not None and not agent.startswith(_BROWSERS)
    for link in links:
        credential = link.credential is not None and link.credential == f.credential
        if not credential and not (known and short(agent or "") == link.user_agent):
            continue
        if _leads_here(link, f):
            how = "with its own credential" if credential else "under its own User-Agent"
            words = f"client requests the url of an elicitation itself, {how}, "
            return Hit(words + "before the user has answered", spot="url")
    return None


def _leads_here(link: Link, f: Flow) -> bool:
    url = read_url(link.url)
    if url is None or url.host is None or url.path != _path(f):
        return False
    places = [read_url(f.upstream)]
    host = f.header("host")
    if host:
        places.append(read_url(f"{url.scheme}://{host}/"))
    return any(place is not None and _place(place) == _place(url) for place in places)


def _path(f: Flow) -> str:
    target = f.head.path if f.head is not None else ""
    if not target.startswith("/"):
        found = read_url(target)
        return found.path if found is not None else ""
    found = read_url("http://host" + target)
    return found.path if found is not None else ""


def _place(url: Url) -> tuple[str | None, int | None]:
    return url.host, url.port if url.port is not None else _PORTS.get(url.scheme)


def _is_at(issuer: str, url: Url) -> bool:
    found = read_url(issuer)
    return found is not None and found.host is not None and _place(found) == _place(url)


def _registered(url: Url) -> str:
    """Give the part of a host somebody registered; an address stands for itself."""
    host = (url.host or "").removesuffix(".")
    if url.address is not None:
        return host
    labels = host.split(".")
    for size in (4, 3):
        if ".".join(labels[-size + 1 :]) in _SHARED and len(labels) >= size:
            return ".".join(labels[-size:])
    if len(labels) >= 3 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL:
        return ".".join(labels[-3:])
    return ".".join(labels[-2:])
