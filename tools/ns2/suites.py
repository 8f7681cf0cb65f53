"""The validation suites that are compared."""

import dataclasses

from routes import Ends


@dataclasses.dataclass(frozen=True)
class Suite:
    """A suite of ns-2.

    Attributes:
        name: as in `test-suite-NAME.tcl` and `test-output-NAME`.
        link: where its outputs note packets; None for those that note the window of the first flow.
        parts: its outputs have a list for each link, and `link` is that of the first one.
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
