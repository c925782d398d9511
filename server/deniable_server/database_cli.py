"""What the server's verbs share: the database they work on, and how a survey is named."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

import click

from deniable_protocol import DeniableError, StoreError

from .contract import Store
from .opening import open_store
from .published import Published

_NAMED: Final = re.compile(r"([^@]*)@([1-9][0-9]*)")

database_option = click.option(
    "--database",
    envvar="DENIABLE_DATABASE",
    metavar="FILE|URL",
    default="deniable.db",
    show_default=True,
    help="Where surveys and reports are: a SQLite file, or postgresql://user@host/database. "
    "The variable DENIABLE_DATABASE says the same.",
)


def plainly(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb end with a plain sentence where deniable knows what is wrong."""

    @wraps(verb)
    def told(*values: Any, **named: Any) -> None:
        try:
            verb(*values, **named)
        except DeniableError as error:
            raise click.ClickException(str(error)) from None

    return told


@contextmanager
def opened(
    address: str | os.PathLike[str],
    *,
    must_exist: bool = True,
    rewrite: bool = False,
    look_only: bool = False,
    operated: bool = True,
) -> Iterator[Store]:
    """Open a store for one verb.

    Args:
        address: A SQLite file or a PostgreSQL address.
        must_exist: Whether a file that is not there is an error rather than created.
        rewrite: Whether reports were added, so that the file is to forget their order.
        look_only: Whether the verb changes nothing: then a copy that is write-protected will do.
        operated: Whether it is a verb about what there is, and no intake that begins.
    """
    store = open_store(address, must_exist=must_exist, look_only=look_only, operated=operated)
    try:
        yield store
    finally:
        store.close(rewrite=rewrite)


def versions(store: Store, named: str) -> list[Published]:
    """Find the survey versions that an operator means: ``canteen`` all, ``canteen@2`` the second.

    Raises:
        StoreError: If there is none, with the names that there are.
    """
    with_version = _NAMED.fullmatch(named)
    name, version = with_version.groups() if with_version else (named, None)
    found = [
        published
        for published in store.surveys(name)
        if version is None or published.version == int(version)
    ]
    if not found:
        there = [label(each) for each in store.readable_surveys()[0]]
        raise StoreError(
            f"there is no survey {named!r} in {store.name}; it has {', '.join(there) or 'none'}"
        )
    return found


def label(published: Published) -> str:
    """Name a survey version as operators and researchers do."""
    return f"{published.survey.name}@{published.version}"
