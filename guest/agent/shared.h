/* SPDX-License-Identifier: GPL-2.0 */
/* The memory that a guest shares with ackclock. crates/ackclock-kernel/src/shared.rs has the same layout. */
#ifndef ACKCLOCK_SHARED_H
#define ACKCLOCK_SHARED_H

#define ACKCLOCK_MAGIC 0x6b6c636b6361ull /* "ackclk" */
#define ACKCLOCK_VERSION 1

/* The records of both directions begin behind this page. */
#define ACKCLOCK_HEADER 4096

struct ackclock_shared {
	u64 magic;
	u32 version;
	/* 0: the host of the senders, 1: the host of the receivers */
	u32 side;
	u32 mtu;
	/* The guest sets it when it accepts commands. */
	u32 ready;
	/* Nanoseconds between a packet and its earliest consequence at this guest */
	u64 response;
	/* Bytes for records that leave the guest, and the bytes that it has used */
	u64 out_size;
	u64 out_len;
	/* Bytes for records that come to the guest, the used bytes, and the bytes that the guest has read */
	u64 in_size;
	u64 in_len;
	u64 in_read;
};

/* A record is followed by its content, padded to 8 bytes. */
struct ackclock_record {
	/* When it takes effect: the time of the guest in nanoseconds */
	u64 time;
	u32 len;
	u16 kind;
	u16 flow;
};

enum {
	/* An IP packet, in both directions */
	ACKCLOCK_PACKET = 1,
	/* A packet with a wrong checksum, to the guest */
	ACKCLOCK_CORRUPTED,
	/* Commands to the guest: open a connection, write bytes, end writing, report all connections */
	ACKCLOCK_OPEN,
	ACKCLOCK_WRITE,
	ACKCLOCK_END,
	ACKCLOCK_LOOK,
	/* From the guest: the state of a connection */
	ACKCLOCK_STATE,
	/* From the guest: three lines with the name of a failed setting or command, the error, and the known names */
	ACKCLOCK_FAILED,
};

/* The flow of a record that concerns the whole guest */
#define ACKCLOCK_NO_FLOW 0xffff

struct ackclock_open {
	/* Addresses in network byte order */
	u32 source;
	u32 destination;
	u16 port;
	/* TCP_MAXSEG */
	u16 mss;
	/* TCP_NOTSENT_LOWAT */
	u32 ahead;
	char algorithm[16];
};

struct ackclock_state {
	/* The number that the command to look contains */
	u64 look;
	/* Bytes that a receiver has read. */
	u64 received;
	/* The receiver of the flow reports, not its sender. */
	u64 is_receiver;
	/* struct tcp_info */
	u8 info[256];
};

#endif
