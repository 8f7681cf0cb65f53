"""Sends frames through a queue of the running kernel: a pair of virtual Ethernet devices in a new namespace.

The kernel stamps a frame before the queue (SOF_TIMESTAMPING_TX_SCHED), and again when the other device
receives it (SO_TIMESTAMPNS). The second stamp is the departure from the queue.
"""

import contextlib
import ctypes
import errno
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

NEAR, FAR = "near", "far"
#: IEEE 802's ethertype for local experiments.
ETHERTYPE = 0x88B5
HEADER = struct.Struct("!6s6sH")
NUMBER = struct.Struct("!I")
#: The least that a frame has: header and number.
LEAST_BYTES = HEADER.size + NUMBER.size
TIMESPEC = struct.Struct("@qq")

# linux/sched.h, asm-generic/socket.h, linux/net_tstamp.h, linux/if_packet.h
CLONE_NEWNET = 0x40000000
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
SO_TIMESTAMPNS, SO_TIMESTAMPING = 35, 37
SOF_TIMESTAMPING_SOFTWARE, SOF_TIMESTAMPING_TX_SCHED = 1 << 4, 1 << 8
BUFFER = 1 << 28
#: The kernel begins to stamp received frames some time after the request. Before that, a frame receives its
#: stamp when it is read.
SETTLING_S = 0.2
#: Closer than this to its time a sender no longer sleeps.
AWAKE_NS = 200_000


class Unavailable(Exception):
    """A requirement is missing, and the message names it."""


@dataclass(frozen=True)
class Passed:
    """When frames came to the queue and left it, in ns since the epoch, by their numbers."""

    came: dict[int, int]
    left: dict[int, int]


def enter_namespace() -> None:
    """Move this process into a network namespace of its own, which ends with it.

    Raises:
        Unavailable: without the right to do that, or without the programs `ip` and `tc`.
    """
    absent = [name for name in ("ip", "tc") if shutil.which(name) is None]
    if absent:
        raise Unavailable(f"{' and '.join(absent)}: not installed (Debian: apt-get install iproute2)")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise Unavailable(f"a network namespace: {os.strerror(ctypes.get_errno())}; it takes root")


def connect(*queue: str) -> None:
    """Make the pair of devices, and a queue in front of the near one from the words of `tc qdisc add`.

    Raises:
        Unavailable: if the kernel lacks something.
    """
    _run("ip", "link", "add", "name", NEAR, "type", "veth", "peer", "name", FAR)
    for device in (NEAR, FAR):
        # Nothing but our own frames.
        with contextlib.suppress(FileNotFoundError):
            Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6").write_text("1", encoding="ascii")
        _run("ip", "link", "set", device, "up")
    _run("tc", "qdisc", "add", "dev", NEAR, "root", *queue)


def disconnect() -> None:
    """Remove the pair."""
    _run("ip", "link", "del", NEAR)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")


def send(schedule: Sequence[tuple[int, int]], drain_s: float) -> Passed:
    """Send frames at their times, in ns from now, with their bytes, Ethernet header included.

    Afterwards wait for `drain_s`, in which the queue has to run empty.

    Raises:
        Unavailable: if the kernel does not stamp every frame.
    """
    with _socket(FAR) as far, _socket(NEAR) as near:
        far.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_SCHED
        near.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags)
        time.sleep(SETTLING_S)
        begin = time.monotonic_ns()
        for number, (at_ns, size) in enumerate(schedule):
            _wait_until(begin + at_ns)
            frame = HEADER.pack(b"\xff" * 6, b"\x02" + b"\0" * 5, ETHERTYPE) + NUMBER.pack(number)
            try:
                near.send(frame.ljust(size, b"\0"))
            except OSError as error:
                # The queue has dropped it.
                if error.errno != errno.ENOBUFS:
                    raise
        time.sleep(drain_s)
        came = dict(_stamps(near, socket.MSG_ERRQUEUE, SO_TIMESTAMPING))
        left = dict(_stamps(far, 0, SO_TIMESTAMPNS))
    if len(came) != len(schedule):
        raise Unavailable(f"stamps in front of the queue: {len(came)} of {len(schedule)} frames have one")
    return Passed(came, left)


def _socket(device: str) -> socket.socket:
    """A socket for the frames of a device, with ample buffers."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    made.bind((device, ETHERTYPE))
    for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
        made.setsockopt(socket.SOL_SOCKET, option, BUFFER)
    return made


def _wait_until(at_ns: int) -> None:
    while (left := at_ns - time.monotonic_ns()) > 0:
        if left > AWAKE_NS:
            time.sleep((left - AWAKE_NS) / 1e9)


def _stamps(frames: socket.socket, flags: int, kind: int) -> Iterator[tuple[int, int]]:
    """Numbers and times of the frames that wait to be read."""
    while True:
        try:
            data, ancillary, _, _ = frames.recvmsg(LEAST_BYTES, 256, flags | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        for level, type_, value in ancillary:
            if (level, type_) == (socket.SOL_SOCKET, kind):
                seconds, nanos = TIMESPEC.unpack_from(value)
                yield NUMBER.unpack_from(data, HEADER.size)[0], seconds * 10**9 + nanos
