"""The share of BBRv1 against loss-based algorithms, by a closed form.

Source: Ware, Mukerjee, Seshan & Sherry, IMC 2019, equations 9 to 11. BBRv1 is limited by twice its estimate
of the BDP. The estimate contains the queue of the other flows.
"""

from __future__ import annotations

#: BBRv1 probes for the RTT after this time, and then keeps a small window for at least that time.
PROBE_RTT_INTERVAL_S, PROBE_RTT_S = 10.0, 0.2
#: The packets in flight of a BBRv1 flow while it probes for the RTT.
PROBE_RTT_PACKETS = 4


def bbr_share(depth_bdp: float, flows: int, bdp_packets: float, rtt_s: float) -> float | None:
    """Return the share of the link that all BBRv1 flows get against loss-based flows.

    `depth_bdp`: the drop-tail buffer, which the loss-based flows fill. `flows`: the number of BBRv1 flows.
    None for buffers below one BDP, where losses limit the flows instead.
    """
    if depth_bdp < 1:
        return None
    queue_packets = depth_bdp * bdp_packets
    of_others = 0.5 - 1 / (2 * depth_bdp) - PROBE_RTT_PACKETS * flows / queue_packets
    idle_s = depth_bdp * rtt_s + PROBE_RTT_S + rtt_s
    return (1 - max(of_others, 0.0)) * max(1 - idle_s / PROBE_RTT_INTERVAL_S, 0.0)
