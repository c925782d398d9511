"""The command ``deniable``; its verbs come from the parts that are installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

import click

_PEOPLE: Final = {
    "deniable_protocol": "For authors",
    "deniable_client": "For respondents",
    "deniable_server": "For operators",
    "deniable_analysis": "For researchers",
}


class _Verbs(click.Group):
    """A group whose verbs are entry points, imported only when one is called for."""

    @staticmethod
    def _found() -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group="deniable.commands")}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every verb, installed extra or not."""
        return sorted(self._found())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one verb, or a stand-in that says which extra is missing."""
        point = self._found().get(cmd_name)
        if point is None:
            return None
        try:
            command: click.Command = point.load()
        except ModuleNotFoundError as error:
            return _needs_extra(cmd_name, point.module, error)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs by who uses them, which is the part that brings them."""
        for part, people in _PEOPLE.items():
            names = [n for n, point in self._found().items() if point.module.startswith(part)]
            verbs = [(name, self.get_command(ctx, name)) for name in sorted(names)]
            rows = [(n, verb.get_short_help_str(limit=200)) for n, verb in verbs if verb]
            if rows:
                with formatter.section(people):
                    formatter.write_dl(rows)


def _needs_extra(verb: str, module: str, error: ModuleNotFoundError) -> click.Command:
    part = module.split(".", maxsplit=1)[0]
    if error.name is None or error.name.startswith("deniable_"):
        raise error
    extra = part.removeprefix("deniable_")
    message = f"'deniable {verb}' needs {error.name}: pip install 'deniable[{extra}]'"

    def refuse() -> None:
        raise click.ClickException(message)

    return click.Command(verb, callback=refuse, short_help=f"(needs deniable[{extra}])")


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable", message="deniable %(version)s")
def main() -> None:
    """Ask sensitive questions so that every answer stays deniable.

    An author writes survey.toml. Each respondent's own device adds noise before anything is sent.
    The server stores only noisy reports, and the researcher gets valid statistics from them.
    """
