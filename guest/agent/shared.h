/* SPDX-License-Identifier: GPL-2.0 */
/* The memory that a guest shares with ackclock. crates/ackclock-kernel/src/shared.rs has the same layout. */
#ifndef ACKCLOCK_SHARED_H
#define ACKCLOCK_SHARED_H

#define ACKCLOCK_MAGIC 0x6b6c636b6361ull /* "ackclk" */
#define ACKCLOCK_VERSION 5

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
	/* The numbers of the network device and of the device with a queue, for netlink. The guest sets them. */
	u32 link;
	u32 queue;
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
	/* A congestion control, to the guest */
	ACKCLOCK_ALGORITHM,
	/* From the guest at its start: the places of fields in its structures */
	ACKCLOCK_FIELDS,
	/* To the guest: a module that registers a congestion control */
	ACKCLOCK_MODULE,
	/* From the guest: the names that a module has registered */
	ACKCLOCK_REGISTERED,
	/* To the guest: a system call of a script. From the guest: its result, with the flow of the call. */
	ACKCLOCK_CALL,
	ACKCLOCK_RETURN,
	/* To the guest: a setting as `name=value`. A failed one is reported. */
	ACKCLOCK_WORD,
	/* To the guest: a message of netlink. From the guest: the answers of the kernel, with the flow of the message. */
	ACKCLOCK_NETLINK,
	ACKCLOCK_ANSWER,
	/* To the guest: an arrival at the queue, and a time at which the transmitter takes a packet */
	ACKCLOCK_ARRIVE,
	ACKCLOCK_SERVE,
	/* From the guest, each with the token of a packet: it is transmitted, with or without a mark, or dropped, or marked */
	ACKCLOCK_SERVED,
	ACKCLOCK_SERVED_MARKED,
	ACKCLOCK_DROPPED,
	ACKCLOCK_MARKED,
	/* To the guest: open a connection of MPTCP, or accept it at the receivers' host. A guest has one at most. */
	ACKCLOCK_OPEN_MULTIPATH,
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

/*
 * A congestion control as programs of eBPF. The data follow, and then the programs. The data have a length that 8
 * divides.
 */
struct ackclock_algorithm {
	char name[16];
	u32 flags;
	u32 programs;
	u32 data;
	u32 unused;
};

/* A program, followed by its instructions and its references. */
struct ackclock_program {
	/* enum ackclock_member */
	u32 member;
	u32 instructions;
	u32 references;
	u32 unused;
};

/* An instruction that refers to a place in the data, or calls a function of the kernel. */
struct ackclock_reference {
	u32 instruction;
	/* 1: `value` is a number of enum ackclock_call. 0: it is a place in the data. */
	u32 is_call;
	u64 value;
};

/* A module: the values of its parameters as a string, and its file. The length of the string divides by 8. */
struct ackclock_module {
	u32 parameters;
	u32 len;
};

enum ackclock_operation {
	ACKCLOCK_SOCKET = 1,
	/* The value is the backlog. */
	ACKCLOCK_LISTEN,
	/* The value is the place of the new socket. */
	ACKCLOCK_ACCEPT,
	ACKCLOCK_BIND,
	ACKCLOCK_CONNECT,
	/* The value is the number of bytes. */
	ACKCLOCK_SEND,
	ACKCLOCK_RECEIVE,
	/* The value is the name of the option. Its content follows. */
	ACKCLOCK_SET_OPTION,
	/* The value is SHUT_RD, SHUT_WR or SHUT_RDWR. */
	ACKCLOCK_SHUTDOWN,
	ACKCLOCK_CLOSE,
	/* The result is followed by struct tcp_info. */
	ACKCLOCK_INFO,
};

/* A system call of a script. Sockets have places from 0 on. */
struct ackclock_request {
	/* enum ackclock_operation */
	u16 operation;
	u16 place;
	/* Flags of the call, such as MSG_DONTWAIT, or the level of an option */
	u32 flags;
	u64 value;
	/* An address in network byte order, and a port */
	u32 address;
	u16 port;
	/* Bytes of the content */
	u16 len;
};

/* A message of netlink follows. */
struct ackclock_netlink {
	u32 protocol;
	u32 unused;
};

/* A packet that arrives at the queue. */
struct ackclock_arrival {
	u32 token;
	/* Bytes with the header of IP */
	u32 len;
	/* Its flow, as an address */
	u32 flow;
	u32 tos;
};

enum ackclock_member {
	ACKCLOCK_INIT,
	ACKCLOCK_SSTHRESH,
	ACKCLOCK_CONG_AVOID,
	ACKCLOCK_CONG_CONTROL,
	ACKCLOCK_SET_STATE,
	ACKCLOCK_CWND_EVENT,
	ACKCLOCK_IN_ACK_EVENT,
	ACKCLOCK_PKTS_ACKED,
	ACKCLOCK_UNDO_CWND,
	ACKCLOCK_MEMBERS,
};

enum ackclock_call {
	ACKCLOCK_CALL_SLOW_START,
	ACKCLOCK_CALL_CONG_AVOID_AI,
	ACKCLOCK_CALL_RENO_CONG_AVOID,
	ACKCLOCK_CALL_RENO_SSTHRESH,
	ACKCLOCK_CALL_RENO_UNDO_CWND,
	ACKCLOCK_CALL_KTIME,
	ACKCLOCK_CALL_JIFFIES,
	ACKCLOCK_CALL_RANDOM,
	ACKCLOCK_CALL_PROBE_READ,
	ACKCLOCK_CALL_NOTHING,
	ACKCLOCK_CALLS,
};

/* The place of a field. A field without a name is the structure as a whole. */
struct ackclock_field {
	char name[24];
	/* 0: a socket, 1: struct ack_sample, 2: struct rate_sample */
	u32 structure;
	u32 bit_offset;
	/* The bits of a bit field, or 0 */
	u32 bits;
	/* Bytes of its type */
	u32 size;
};

struct ackclock_state {
	/* The number that the command to look contains */
	u64 look;
	/* Bytes that a receiver has read. */
	u64 received;
	/* The receiver of the flow reports, not its sender. */
	u64 is_receiver;
	/* The sequence number that ends the last recovery, which differs from that of the recovery before */
	u64 high_seq;
	/* struct tcp_info */
	u8 info[256];
};

#endif
