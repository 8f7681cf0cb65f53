"""The validation suites that are compared."""

import dataclasses

from routes import Ends


@dataclasses.dataclass(frozen=True)
class Suite:
    """A suite of ns-2. Its name is in `test-suite-NAME.tcl` and `test-output-NAME`.

    Its outputs list the packets at `link`, or the window of the first flow if there is no `link`. With
    `parts` they contain a list for each link, and the first list belongs to `link`.
    """

    name: str
    link: Ends | None = (2, 3)
    parts: bool = False

    @property
    def script(self) -> str:
        """Its Tcl script."""
        return f"test-suite-{self.name}.tcl"


SUITES = (
    Suite("tcpVariants"),
    Suite("aimd", link=None),
    Suite("sack"),
    Suite("newreno"),
    Suite("rfc2581"),
    Suite("LimTransmit", link=(0, 2)),
    Suite("ecn"),
    Suite("tcpOptions"),
    Suite("testReno"),
    Suite("oddBehaviors"),
    Suite("frto", link=(0, 2), parts=True),
    Suite("tcp-init-win"),
)
