"""Features of ns-2 that ackclock implements, and names of the others."""

from setups import Setup

RECOVERY = {"": "tahoe", "/Reno": "reno", "/Newreno": "newreno", "/Sack1": "sack"}
OPTIONS_TRANSLATED = """
    bugFix_ bugFix_ack_ bugFix_ts_ lessCareful_ singledup_ precisionReduce_ increase_num_ decrease_num_
    maxburst_ windowInit_ window_ packetSize_ useHeaders_ minrto_ tcpTick_ rtxcur_init_ syn_ delay_growth_
    partial_ack_ newreno_changes1_ partial_window_deflation_ exit_recovery_fix_ timestamps_ ts_resetRTO_
    ts_echo_rfc1323_ interval_ RFC2581_immediate_ack_ windowInitOption_ ecn_ SetCWRonRetransmit_
    aggressive_maxburst_ frto_enabled_ sfrto_enabled_ windowOption_ k_parameter_ l_parameter_
"""
# State of an agent, names of its ends, and what has no effect on the data.
OPTIONS_WITHOUT_EFFECT = """
    ack_ agent_addr_ agent_port_ awnd_ backoff_ class_ cwnd_ dst_addr_ dst_port_ fid_ maxseq_ rttvar_
    ssthresh_ rfc2988_ SYN_immediate_ack_
"""
KNOWN = frozenset(OPTIONS_TRANSLATED.split() + OPTIONS_WITHOUT_EFFECT.split())
# What is missing, by the sender or by the option that asks for it.
MISSING = {
    "/Fack": "FACK of 1996, with losses three segments below the highest SACKed one",
    "/SackRH": "rate-halving",
    "/FullTcp": "two-way TCP",
    "/FullTcp/Tahoe": "two-way TCP",
    "/FullTcp/Newreno": "two-way TCP",
    "/FullTcp/Sack": "two-way TCP",
    "bugfix_ss_": "an old window after the loss of a SYN or of the first segments",
    "numdupacksFrac_": "a threshold of duplicate ACKs that grows with the window",
}


class NotTranslatable(Exception):
    """The case uses a feature that ackclock lacks, which the message names."""


def check(setup: Setup) -> None:
    """Reject a feature that ackclock lacks."""
    for other in setup.others:
        if other == "Delayer":
            raise NotTranslatable("a link that holds packets back for a time")
        raise NotTranslatable(f"agents that are not TCP ({other})")
    for sender in setup.senders:
        kind = sender.kind.removeprefix("Agent/TCP")
        if kind not in RECOVERY:
            raise NotTranslatable(MISSING.get(kind, f"senders of TCP{kind}"))
        for option in sorted(sender.changed.keys() - KNOWN):
            raise NotTranslatable(MISSING.get(option, f"`{option}` {sender.changed[option]:g}"))
