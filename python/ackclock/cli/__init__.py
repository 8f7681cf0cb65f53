"""The command `ackclock`. stdout is data, stderr is talk; exit codes: 0, 1 for a gate that fails,
2 for mistakes, 130 for Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from ackclock import __version__
from ackclock.suggest import hint

#: Each command's module and one line of help; a module is imported when its command runs.
_COMMANDS = {
    "run": "Run one scenario and print its metrics.",
    "check": "Check a scenario: the links it expands to, every flow's base RTT, what is random.",
    "evaluate": "Compare an algorithm with a panel over a suite of environments.",
    "panel": "Store the best scores of a suite's panel, which C and D are measured against.",
    "tune": "Search an algorithm's parameters for the smallest worst case over a suite.",
    "study": "Run a grid of scenarios, so many replicates each; go on where it stopped.",
    "query": "Ask stored results with SQL.",
    "reproduce": "Run what a paper ran: tables and claims, printed beside measured.",
    "exchange": "Run exchange scripts: segments in and out against the simulated TCP.",
    "model": "The synchronous model: closed forms beside computed figures.",
    "list": "List algorithms, recoveries, queues, losses, traffic, topologies, suites or papers.",
    "schema": "Print the JSON Schema of scenario or study files.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"ackclock.cli.{cmd_name}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            raise click.UsageError(
                f"no command is called {args[0]!r}; {hint(args[0], _COMMANDS)}", ctx
            ) from None


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ackclock")
def cli() -> None:
    """A congestion-control laboratory: how good and how robust is this window algorithm?"""


def main() -> NoReturn:
    """Run the command line; user mistakes become one message, never a traceback."""
    from ackclock.errors import AckclockError, Interrupted, printable, sets_called

    try:
        with sets_called("--set"):
            code = cli(standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except AckclockError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort, Interrupted) as error:
        # Click has its own exception in place of Ctrl-C's, whose notes say what is kept.
        notes = getattr(error.__cause__ or error, "__notes__", ())
        click.echo("; ".join(["interrupted", *notes]), err=True)
        code = 130
    except BrokenPipeError:
        # Whoever read stdout has gone, as `head` does; click leaves with the same code.
        _discard_stdout()
        code = 1
    except OSError as error:
        # Commands turn errors of files into errors with a path: this is stdout, redirected to a full disk.
        click.echo(f"error: output cannot be written: {error.strerror}", err=True)
        _discard_stdout()
        code = 2
    sys.exit(code)


def _discard_stdout() -> None:
    """Give up what is left in the buffer: the interpreter would try to write it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
