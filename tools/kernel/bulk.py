"""Captures a bulk transfer of the running kernel through a bottleneck, for `ackclock compare-capture`.

    python tools/kernel/bulk.py out.pcap                       10 s of CUBIC at 10 Mbit/s; needs root
    python tools/kernel/bulk.py out.pcap --cc reno --rate 4 --rtt 40 --queue 20 --seconds 5

It creates two network namespaces with a point-to-point device (TUN) in each. This process connects them by
a drop-tail queue with a rate and a delay. dumpcap captures at the sender. No packet leaves the namespaces.

The exit code is 77 if a requirement is missing.
"""

import argparse
import contextlib
import ctypes
import fcntl
import heapq
import multiprocessing
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
DEVICE = "path"
ADDRESSES = ("10.55.0.1", "10.55.0.2")
PORT = 5201
MTU = 1500
#: The headers of IP and TCP with every option.
SNAPLEN = 80
MISSING = 77

libc = ctypes.CDLL(None, use_errno=True)


def enter_new() -> int:
    """Enter a new network namespace, and return the file that keeps it."""
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace")
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def enter(namespace: int) -> None:
    if libc.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot enter the namespace")


def open_tun(own: str, other: str) -> int:
    """Return a device of the namespace that we are in, with addresses."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    for command in (
        f"ip addr add {own} peer {other} dev {DEVICE}",
        f"ip link set {DEVICE} txqueuelen 10000 up",
        "sysctl -qw net.ipv4.tcp_no_metrics_save=1",
        "sysctl -qw net.ipv4.tcp_rmem=4096\t6000000\t6000000",
    ):
        subprocess.run(command.split(" "), check=True)
    return device


def send(namespace: int, cc: str, seconds: float) -> None:
    enter(namespace)
    with socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
        sender.connect((ADDRESSES[1], PORT))
        end, chunk = time.monotonic() + seconds, bytes(65536)
        sender.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            while time.monotonic() < end:
                sender.sendall(chunk)
        # What is not sent yet is not of the capture.
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def receive(namespace: int, ready: int) -> None:
    enter(namespace)
    with socket.create_server((ADDRESSES[1], PORT)) as server:
        os.write(ready, b"r")
        connection, _ = server.accept()
        with connection, contextlib.suppress(ConnectionResetError):
            while connection.recv(1 << 16):
                pass


def forward(near: int, far: int, rate_bps: float, rtt_s: float, queue: int, end: float) -> None:
    """Carry packets: data through the queue in virtual time, ACKs with the delay alone."""
    waiting: deque[float] = deque()
    busy_until, number = 0.0, 0
    flying: list[tuple[float, int, int, bytes]] = []
    while (now := time.monotonic()) < end:
        timeout = max(0.0, flying[0][0] - now) if flying else 0.1
        for device in select.select([near, far], [], [], timeout)[0]:
            with contextlib.suppress(BlockingIOError):
                while packet := os.read(device, MTU):
                    now, number = time.monotonic(), number + 1
                    if device == far:
                        heapq.heappush(flying, (now + rtt_s / 2, number, near, packet))
                        continue
                    while waiting and waiting[0] <= now:
                        waiting.popleft()
                    # The packet in transmission is not in the queue.
                    if len(waiting) > queue:
                        continue
                    busy_until = max(busy_until, now) + 8 * len(packet) / rate_bps
                    waiting.append(busy_until)
                    heapq.heappush(flying, (busy_until + rtt_s / 2, number, far, packet))
        now = time.monotonic()
        while flying and flying[0][0] <= now:
            _, _, device, packet = heapq.heappop(flying)
            os.write(device, packet)


def capture(out: Path, cc: str, rate_bps: float, rtt_s: float, queue: int, seconds: float) -> None:
    # The sender's side, then the receiver's.
    namespaces = [enter_new()]
    near = open_tun(*ADDRESSES)
    namespaces.append(enter_new())
    far = open_tun(*ADDRESSES[::-1])
    enter(namespaces[0])
    with contextlib.ExitStack() as stack:
        sniffer = subprocess.Popen(
            ["dumpcap", "-q", "-P", "-i", DEVICE, "-s", str(SNAPLEN), "-f", "tcp", "-w", str(out)],
            stderr=subprocess.DEVNULL,
        )
        stack.callback(sniffer.wait)
        stack.callback(sniffer.send_signal, signal.SIGINT)
        # Until it listens.
        time.sleep(2)
        is_ready, ready = os.pipe()
        receiver = multiprocessing.Process(target=receive, args=(namespaces[1], ready))
        sender = multiprocessing.Process(target=send, args=(namespaces[0], cc, seconds))
        receiver.start()
        os.read(is_ready, 1)
        sender.start()
        # Packets must be on time even on a busy machine.
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        forward(near, far, rate_bps, rtt_s, queue, time.monotonic() + seconds)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        for process in (sender, receiver):
            process.terminate()
            process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--cc", default="cubic", help="an algorithm of the kernel")
    parser.add_argument("--rate", type=float, default=10, help="Mbit/s")
    parser.add_argument("--rtt", type=float, default=40, help="ms")
    parser.add_argument("--queue", type=int, default=50, help="packets")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    missing = [tool for tool in ("ip", "sysctl", "dumpcap") if shutil.which(tool) is None]
    if missing or os.geteuid():
        print(f"bulk.py: needs {' and '.join(missing or ['root'])}", file=sys.stderr)
        return MISSING
    out: Path = options.out.resolve()
    capture(out, options.cc, options.rate * 1e6, options.rtt / 1e3, options.queue, options.seconds)
    print(f"{out.stat().st_size} bytes in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
