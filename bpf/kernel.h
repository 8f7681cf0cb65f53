/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the kernel that the algorithms here use, by name.
 *
 * A program is compiled against these declarations and carries their names (BTF). The loader finds the fields in the
 * running kernel (CO-RE: compile once, run everywhere) or in the simulator's socket. Therefore order and size of the
 * omitted fields do not matter.
 */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define KFUNC extern __attribute__((section(".ksyms")))
#define INLINE static inline __attribute__((always_inline))

/* The kinds of __builtin_preserve_field_info. The loader fills in its result. */
enum { BYTE_OFFSET = 0, BYTE_SIZE = 1, LSHIFT = 4, RSHIFT = 5 };

/* A bit field, which may have other bits in the running kernel. */
#define BITS(structure, field)                                                                      \
	({                                                                                          \
		const char *at = (const char *)(structure) +                                        \
				 __builtin_preserve_field_info((structure)->field, BYTE_OFFSET);    \
		__u64 bits = 0;                                                                     \
                                                                                                    \
		switch (__builtin_preserve_field_info((structure)->field, BYTE_SIZE)) {             \
		case 1: bits = *(const __u8 *)at; break;                                            \
		case 2: bits = *(const __u16 *)at; break;                                           \
		case 4: bits = *(const __u32 *)at; break;                                           \
		case 8: bits = *(const __u64 *)at; break;                                           \
		}                                                                                   \
		bits <<= __builtin_preserve_field_info((structure)->field, LSHIFT);                 \
		bits >> __builtin_preserve_field_info((structure)->field, RSHIFT);                  \
	})

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	unsigned long sk_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_ssthresh;
	__u32 undo_marker;
	__u32 delivered;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 max_packets_out;
	__u32 is_cwnd_limited : 1;
	__u32 srtt_us;
	__u32 mss_cache;
	__u64 tcp_mstamp;
};

struct ack_sample {
	__u32 pkts_acked;
	int rtt_us;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, __u32 event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	__u32 flags;
	char name[16];
};

#pragma clang attribute pop

KFUNC __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked);
KFUNC __u32 tcp_reno_undo_cwnd(struct sock *sk);

/* enum tcp_ca_state */
#define TCP_CA_CWR 2
#define TCP_CA_LOSS 4
/* enum tcp_ca_event: a timeout, after the call of ssthresh. */
#define CA_EVENT_LOSS 3
/* A flag of in_ack_event: the ACK echoes a mark. */
#define CA_ACK_ECE (1 << 2)
/* A flag of tcp_congestion_ops: unprivileged users and network namespaces may select it. */
#define TCP_CONG_NON_RESTRICTED 1

char _license[] SEC("license") = "GPL";
