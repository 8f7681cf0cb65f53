"""The command `ackclock`. stdout is data, stderr is talk; `docs/reference/shell.md` lists the exit codes."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from ackclock._core import VERSION
from ackclock.text.streams import discard_stdout
from ackclock.text.suggest import hint

#: As a shell reports a program that SIGINT or SIGPIPE ended.
_INTERRUPTED, _CLOSED_PIPE = 130, 141

#: Each command's module and one line of help; a module is imported when its command runs.
_COMMANDS = {
    "run": "Run one scenario and print its metrics.",
    "play": "Open the live page: a simulation to look at and to change, in a browser.",
    "sequence": "Draw time-sequence plots of the connections of a scenario.",
    "compare-capture": "Compare a captured bulk transfer with a replay of it.",
    "check": "Check a scenario and print its links, base RTTs and random inputs.",
    "new": "Write a folder to begin an algorithm in.",
    "cc": "Load algorithms into the running kernel, list and unload them.",
    "check-cc": "Check that an algorithm keeps what TCP asks of one.",
    "evaluate": "Compare an algorithm, or rank several, over a suite of environments.",
    "evidence": "Write what RFC 9743 asks an author for: each criterion with what was measured.",
    "panel": "Run a suite's panel and store its scores, the baseline of regret.",
    "tune": "Search for the parameters with the smallest worst-case regret over a suite.",
    "study": "Run a grid of scenarios, or continue one that was stopped.",
    "plot": "Draw a stored run over time: window, RTT, goodput and queue.",
    "query": "Query stored results with SQL.",
    "reproduce": "Run the experiments of a paper and judge its claims.",
    "exchange": "Run packetdrill scripts against the simulated TCP.",
    "model": "Compare closed forms of the synchronous model with computed figures.",
    "list": "List algorithms, queues, suites and other names that files and commands take.",
    "schema": "Print the JSON Schema of scenario or study files, of evaluations or evidence.",
}

#: The groups of commands in the help text; each command is in one of them.
GROUPS = {
    "Run and look": ("run", "play", "sequence", "plot", "check", "list", "schema"),
    "Evaluate": ("new", "check-cc", "evaluate", "evidence", "panel", "tune"),
    "Studies": ("study", "query", "reproduce"),
    "Kernel": ("cc",),
    "Validate": ("exchange", "compare-capture", "model"),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"ackclock.cli.{cmd_name.replace('-', '_')}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), _COMMANDS[name]) for name in names])

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
@click.version_option(VERSION, prog_name="ackclock")
def cli() -> None:
    """A congestion-control laboratory: how good and how robust is an algorithm?"""


def _with_help(error: click.ClickException) -> str:
    """Return a message of click in the form of all others, with the command whose help explains it."""
    message = error.format_message()
    message = message[:1].lower() + message[1:].rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} (see {context.command_path} --help)" if context is not None else message


def run_command_line() -> int:
    """Run the command line and return its exit code; user mistakes become one message, never a traceback."""
    from ackclock.cli.console import talk
    from ackclock.errors import AckclockError, Interrupted, sets_called

    try:
        with sets_called("--set"):
            code = cli(standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        talk(f"error: {_with_help(error)}")
        code = 2
    except AckclockError as error:
        from ackclock.text.pointer import with_pointers

        talk(f"error: {with_pointers(error.shell_message)}")
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort, Interrupted) as error:
        # Click has its own exception in place of Ctrl-C's, whose notes say what is kept.
        notes = getattr(error.__cause__ or error, "__notes__", ())
        talk("; ".join(["interrupted", *notes]))
        code = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read stdout has gone, as `head` does.
        discard_stdout()
        code = _CLOSED_PIPE
    except SystemExit as error:
        # click and rich leave with 1 where they notice that; completion of words leaves with 0.
        if error.code != 1:
            raise
        discard_stdout()
        code = _CLOSED_PIPE
    except (RecursionError, MemoryError) as error:
        # The limits of input leave no known way here; what is left of the stack is enough for a line.
        is_deep = isinstance(error, RecursionError)
        talk(f"error: the input is {'nested too deeply' if is_deep else 'too large for the memory'}")
        code = 2
    except OSError as error:
        # Commands turn errors of files into errors with a path: this is stdout, redirected to a full disk.
        talk(f"error: output cannot be written: {error.strerror}")
        discard_stdout()
        code = 1
    return code
