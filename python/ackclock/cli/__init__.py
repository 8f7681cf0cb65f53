"""The command `ackclock`. Data go to stdout, messages to stderr.

`docs/reference/shell.md` lists the exit codes.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module

import click

from ackclock._core import VERSION
from ackclock.text.streams import discard_stdout
from ackclock.text.suggest import hint

#: As a shell reports a program that SIGINT or SIGPIPE ended.
_INTERRUPTED, _CLOSED_PIPE = 130, 141

#: Each command with one line of help. Its module is imported when the command runs.
_COMMANDS = {
    "run": "Run one scenario and print its metrics.",
    "play": "Open the live page: watch and change a simulation in a browser.",
    "sequence": "Draw time-sequence plots of the connections of a scenario.",
    "compare-capture": "Compare a captured bulk transfer with a replay of it.",
    "check": "Check a scenario and print its links, base RTTs and random inputs.",
    "new": "Write a folder with a new algorithm, a scenario and a test.",
    "cc": "Load algorithms into the running kernel, list and unload them.",
    "kernel": "Build kernels for --backend kernel, list and remove them.",
    "check-cc": "Check that an algorithm keeps the contract of TCP.",
    "evaluate": "Compare an algorithm, or rank several, over a suite of environments.",
    "evaluate-queue": "Compare a queue discipline, or rank several, over a suite of environments.",
    "evidence": "Measure the criteria of RFC 9743 and write a report.",
    "panel": "Run a suite's panel and store its scores, the baseline of regret.",
    "tune": "Search for the parameters with the smallest worst-case regret over a suite.",
    "study": "Run a grid of scenarios, or continue one that was stopped.",
    "plot": "Draw a stored run over time: window, RTT, goodput and queue.",
    "query": "Query stored results with SQL.",
    "reproduce": "Run the experiments of a paper and judge its claims.",
    "exchange": "Run packetdrill scripts against the simulated TCP or a kernel.",
    "queue": "Run a queue alone: sojourn times, drops, and its state over time.",
    "response": "Compare response functions: goodput over the loss rate, RTT, buffer or rate.",
    "league": "Rank all algorithms over all suites, and write a static site.",
    "attack": "Search for the network in which an algorithm is much worse than others.",
    "coexist": "Measure how algorithms share a bottleneck, and the harm that they do to each other.",
    "model": "Compare closed forms of the synchronous model with computed figures.",
    "list": "List algorithms, queues, suites and other names that files and commands take.",
    "schema": "Print the JSON Schema of scenario or study files, of evaluations or evidence.",
}

#: The groups of commands in the help text. Each command is in one group.
GROUPS = {
    "Run and look": ("run", "play", "queue", "sequence", "plot", "check", "list", "schema"),
    "Evaluate": (
        "new",
        "check-cc",
        "evaluate",
        "evaluate-queue",
        "league",
        "coexist",
        "attack",
        "response",
        "evidence",
        "panel",
        "tune",
    ),
    "Studies": ("study", "query", "reproduce"),
    "Kernel": ("cc", "kernel"),
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


#: The form in which click suggests options.
_SUGGESTED = re.compile(r"\.? \(?Did you mean (?:one of: )?(.*?)\?\)?$")


def _with_help(error: click.ClickException) -> str:
    """Return a message of click in the form of all others, with the command whose help explains it."""
    message = _SUGGESTED.sub(r"; did you mean \1?", error.format_message())
    message = message[:1].lower() + message[1:].rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} (see {context.command_path} --help)" if context is not None else message


def run_command_line() -> int:
    """Run the command line and return its exit code. User mistakes become messages, never a traceback."""
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

        messages = getattr(error, "messages", ()) or (error.shell_message,)
        for message in messages:
            talk(f"error: {with_pointers(message)}")
        if more := getattr(error, "more", 0):
            talk(f"... and {more} more mistakes")
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort, Interrupted) as error:
        # Click replaces the exception of Ctrl-C, whose notes say which results are kept.
        notes = getattr(error.__cause__ or error, "__notes__", ())
        talk("; ".join(["interrupted", *notes]))
        code = _INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout has closed it, as `head` does.
        discard_stdout()
        code = _CLOSED_PIPE
    except SystemExit as error:
        # click and rich exit with 1 in this case. Shell completion exits with 0.
        if error.code != 1:
            raise
        discard_stdout()
        code = _CLOSED_PIPE
    except (RecursionError, MemoryError) as error:
        # The limits of inputs should prevent this. The rest of the stack is enough for one line.
        is_deep = isinstance(error, RecursionError)
        talk(f"error: the input is {'nested too deeply' if is_deep else 'too large for the memory'}")
        code = 2
    except OSError as error:
        # Commands name the path in errors of files, so this is stdout, redirected to a full disk.
        talk(f"error: output cannot be written: {error.strerror}")
        discard_stdout()
        code = 1
    return code
