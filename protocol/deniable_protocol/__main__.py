"""Run the command with ``python -m deniable_protocol``."""

from .cli import main

main(prog_name="deniable")
