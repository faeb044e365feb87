"""The command line's verbs of who owns a study that is collected: pause, resume, token."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from castell.collector.commands import Json, StorePlace, needs_extra
from castell.errors import OptionError

_DAY = 86_400

tokens = typer.Typer(
    no_args_is_help=True, help="Who may read the results of a store: add, list, revoke."
)


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    for verb in (pause, resume):
        app.command(epilog=f"Example: castell {verb.__name__} study.sqlite")(verb)
    verbs: list[tuple[str, Callable[..., None], str]] = [
        ("add", add, "castell token add study.sqlite --name anna --role analyst"),
        ("list", show, "castell token list study.sqlite"),
        ("revoke", revoke, "castell token revoke study.sqlite --name anna"),
    ]
    for name, of_tokens, example in verbs:
        tokens.command(name, epilog=f"Example: {example}")(of_tokens)
    app.add_typer(tokens, name="token")


def pause(store: StorePlace, as_json: Json = False) -> None:
    """Take no new reports for now, in every collector of the store, from this moment on."""
    _set(store, paused=True, as_json=as_json)


def resume(store: StorePlace, as_json: Json = False) -> None:
    """Take reports again after a pause."""
    _set(store, paused=False, as_json=as_json)


def _set(place: str, *, paused: bool, as_json: bool) -> None:
    with needs_extra():
        from castell.collector.store import open_store
        from castell.collector.store_places import resolve

    with closing(open_store(resolve(place))) as opened:
        was = opened.rules().paused
        opened.pause(paused)
    if as_json:
        typer.echo(json.dumps({"paused": paused, "was": was}))
    elif paused:
        typer.echo("paused: no new reports are taken until castell resume")
    else:
        typer.echo("resumed: reports are taken" if was else "it was not paused")


def add(
    store: StorePlace,
    name: Annotated[str, typer.Option(help="Whose it is: small letters and digits.")],
    role: Annotated[str, typer.Option(help="analyst (results) or owner (everything).")] = "analyst",
    days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Good for so many days; else until revoked.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token and print it, this once: the store keeps a hash of it."""
    with needs_extra():
        from castell.collector.store import open_store
        from castell.collector.store.tokens import Role, Token, new_token, token_hash
        from castell.collector.store_places import resolve

    roles = {known.value: known for known in Role}
    if role not in roles:
        raise OptionError(f"there is no role {role!r}", f"take one of {', '.join(roles)}")
    secret = new_token()
    expires = None if days is None else int(time.time()) + days * _DAY
    with closing(open_store(resolve(store))) as opened:
        opened.add_token(Token(name, roles[role], token_hash(secret), expires))
    typer.echo(json.dumps({"name": name, "token": secret}) if as_json else secret)


def show(store: StorePlace, as_json: Json = False) -> None:
    """List the tokens of a store by name; what they are nobody can read."""
    with needs_extra():
        from castell.collector.store import open_store
        from castell.collector.store_places import resolve

    with closing(open_store(resolve(store))) as opened:
        found = opened.tokens()
    rows = [
        {"name": one.name, "role": one.role.value, "expires": _day(one.expires)} for one in found
    ]
    if as_json:
        typer.echo(json.dumps({"tokens": rows}))
        return
    for row in rows:
        ends = "until revoked" if row["expires"] is None else f"until {row['expires']}"
        typer.echo(f"{row['name']:<24} {row['role']:<8} {ends}")
    if not rows:
        typer.echo("no tokens but the one that the collector was started with")


def revoke(
    store: StorePlace,
    name: Annotated[str, typer.Option(help="Whose it is.")],
    as_json: Json = False,
) -> None:
    """Make a token useless; a collector that runs knows it within a second."""
    with needs_extra():
        from castell.collector.store import open_store
        from castell.collector.store_places import resolve

    with closing(open_store(resolve(store))) as opened:
        opened.revoke_token(name)
    typer.echo(json.dumps({"revoked": name}) if as_json else f"revoked the token of {name}")


def _day(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
