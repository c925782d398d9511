"""What a PostgreSQL server is to be set to, so that it loses no report and its log tells of none.

The one list of it: a server that takes reports is held against it, and the operating guide and the
server of the tests are as it says.
"""

from __future__ import annotations

from typing import Any, Final

from deniable_protocol import StoreError

OLDEST: Final = 14

QUIET: Final = {
    # What is asked, and the values in it.
    "log_statement": "none",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    # The moment of it, by how long it took, or waited.
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_duration": "off",
    "log_lock_waits": "off",
    "log_statement_stats": "off",
    "log_parser_stats": "off",
    "log_planner_stats": "off",
    "log_executor_stats": "off",
    "log_min_messages": "warning",
    # Who came, and whether anything was stored in the last minutes.
    "log_connections": "off",
    "log_disconnections": "off",
    "log_checkpoints": "off",
    # The same by extensions, where they are loaded.
    "auto_explain.log_min_duration": "-1",
    "pgaudit.log": "none",
}
"""The lines of ``postgresql.conf`` that keep statements, addresses and moments out of the log."""

_REQUIRED: Final = {
    "could lose reports in a power cut": {"fsync": "on"},
    "would keep the time of each report": {"track_commit_timestamp": "off"},
    "would write what is sent, by whom or when, into its log": QUIET,
}
_AS_GOOD: Final = {
    "log_connections": {""},  # what "off" is from PostgreSQL 18 on
    "log_min_messages": {"error", "log", "fatal", "panic"},
}

_SESSION: Final = {
    "synchronous_commit": "on",  # an acknowledged report survives a power cut
    "statement_timeout": "20s",
    "idle_in_transaction_session_timeout": "60s",
    # A statement sees what was committed while it waited for a lock, such as the last place.
    "default_transaction_isolation": r"read\ committed",
    "client_min_messages": "warning",
    "debug_print_parse": "off",
    "debug_print_rewritten": "off",
    "debug_print_plan": "off",
}


def session_options(*, look_only: bool) -> str:
    """Write the settings that a session may choose for itself, as its connection asks for them."""
    chosen = _SESSION | ({"default_transaction_read_only": "on"} if look_only else {})
    return " ".join(f"-c {name}={value}" for name, value in chosen.items())


def refuse_old(connection: Any, name: str) -> None:
    """See that a server is new enough.

    Raises:
        StoreError: If it is too old.
    """
    version = connection.info.server_version // 10000
    if version < OLDEST:
        raise StoreError(f"{name} runs PostgreSQL {version}; {OLDEST} or newer is needed")


def refuse_careless(connection: Any, name: str) -> None:
    """See that a server may take reports.

    Raises:
        StoreError: If it is set to lose reports, or to write down what it must not; says every
            setting that is to be changed.
    """
    names = [setting for group in _REQUIRED.values() for setting in group]
    query = "SELECT name, current_setting(name, true) FROM unnest(%s::text[]) AS name"
    shown = dict(connection.execute(query, (names,)).fetchall())
    wrong = []
    for what, group in _REQUIRED.items():
        pairs = [
            f"{setting} = {value} (it is {shown[setting] or 'empty'})"
            for setting, value in group.items()
            # None is a setting that the server does not have, such as an extension's.
            if shown[setting] not in {None, value, *_AS_GOOD.get(setting, ())}
        ]
        wrong += [f"it {what}; set {', '.join(pairs)}"] if pairs else []
    if wrong:
        raise StoreError(f"{name} may not take reports as it is set: {'. '.join(wrong)}")
