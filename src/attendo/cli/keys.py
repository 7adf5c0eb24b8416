"""`attendo keys`: API keys of a server."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.output import check_file
from attendo.cli.progress import note
from attendo.destinations import find_destination
from attendo.errors import DataError

if TYPE_CHECKING:
    from attendo.serving.access.keys import Key

keys = typer.Typer(name="keys", help="API keys of a server: create, list, revoke.", no_args_is_help=True)

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file of keys, as given to `attendo serve --keys`.")
]


@keys.command()
def add(
    file: FileArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the key's owner.")],
    requests: Annotated[int | None, typer.Option("--requests-per-minute", min=1, help="Default: no limit.")] = None,
    characters: Annotated[int | None, typer.Option("--characters-per-minute", min=1, help="Default: no limit.")] = None,
    month: Annotated[int | None, typer.Option("--characters-per-month", min=1, help="Default: no limit.")] = None,
    most: Annotated[
        int | None, typer.Option("--max-characters", min=1, help="Characters per request. Default: the server's limit.")
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=36500, help="Days until the key expires. Default: never.")
    ] = None,
) -> None:
    """Creates a key and prints it once; the file holds only its digest. A running server accepts it within seconds."""
    from attendo.serving.access.keys import changed_keys, new_key

    check_file(file)
    if not find_destination(file).is_file:
        raise DataError(f"{file}: keys are kept in a regular file; name another")
    expires = None
    if days is not None:
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
    secret, key = new_key(
        name,
        expires=expires,
        requests_per_minute=requests,
        characters_per_minute=characters,
        characters_per_month=month,
        max_characters=most,
    )
    file.parent.mkdir(parents=True, exist_ok=True)  # the folder of its lock
    with changed_keys(file) as known:
        known.append(key)
    note(f"key {key.id} of {name}; it is shown now and never again")
    print(secret)


@keys.command(name="list")
def list_(file: FileArgument) -> None:
    """Lists the keys with ids, names and limits, but not the secrets, which are not stored."""
    from attendo.serving.access.keys import read_keys

    for key in read_keys(file).keys:
        print(_line(key))


@keys.command()
def revoke(
    file: FileArgument,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as printed by `attendo keys list`.")],
) -> None:
    """Revokes a key. A running server refuses it within seconds."""
    from attendo.serving.access.keys import changed_keys

    with changed_keys(file) as known:
        left = [key for key in known if key.id != key_id]
        if len(left) == len(known):
            ids = ", ".join(key.id for key in known) or "none"
            raise DataError(f"{file}: has no key with the id {key_id}; there are {ids}")
        known[:] = left
    note(f"revoked {key_id}")


def _line(key: "Key") -> str:
    limits = {
        "requests/min": key.requests_per_minute,
        "characters/min": key.characters_per_minute,
        "characters/month": key.characters_per_month,
        "characters/request": key.max_characters,
    }
    limited = [f"{limit:,} {name}" for name, limit in limits.items() if limit is not None]
    until = [f"until {key.expires}"] if key.expires is not None else []
    return "\t".join([key.id, key.name, f"since {key.created}", *until, *limited])
