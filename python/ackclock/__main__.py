"""The entry point of `python -m ackclock` and of the script `ackclock`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. Ctrl-C while modules are imported ends it as quietly as later."""
    try:
        import signal

        from ackclock.text.streams import open_streams

        open_streams()
        from ackclock.cli import run_command_line

        code = run_command_line()
        # Nothing is left to do but to leave, which Ctrl-C must not interrupt.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
