/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window rule inside the kernel's TCP: slow start below ssthresh, the rule above it, one cut per congestion event.
 *
 * Windows are 32.32 fixed-point numbers of segments, unless a file defines another type first, as rule.bpf.c does.
 * The kernel's snd_cwnd is the whole part. The state keeps the fraction, also during recovery.
 * It discards the fraction if the kernel sets another window (after an idle time, or an undo).
 * In slow start windows are whole.
 *
 * The error of the arithmetic, from which each file derives the error of its rule:
 * - part() is at most 2^-32 segments too small.
 * - share() is at most 2^-32 segments too small, and at most a relative 2^-16 / w too large.
 * - A parameter is at most 2^-33 away from its given value.
 * Increases are below 2^16 segments and windows below 2^24.
 *
 * Unlike in the kernel's Reno, segments acknowledged beyond the end of slow start do not count.
 *
 * An algorithm defines `struct state`, whose first member is `fixed32 window`, and four functions.
 * - restart(state, w): congestion avoidance begins at the window w.
 * - grow(state, w, acked): returns the window after `acked` segments were acknowledged at w.
 * - cut(state, w): returns the window after a congestion event at w.
 * - floored(state, w): w is the window after a congestion event, larger than the result of cut().
 * The file ends with WINDOW_RULE(name).
 */
#pragma once

#include "kernel.h"

/* A fixed-point number: 32 bits of a whole number, and 32 of a fraction. */
typedef __u64 fixed32;

#define ONE (1ULL << 32)
/* A window from segments, its whole segments, and the largest window. Windows above zero compare as integers. */
#ifndef WINDOW_OF
#define WINDOW_OF(segments) ((fixed32)(segments) << 32)
#define SEGMENTS(w) ((w) >> 32)
#define LARGEST_WINDOW ((1ULL << 56) - 1)
#endif
/* RFC 5681: ssthresh is at least two segments. */
#define MIN_SSTHRESH 2

/* A parameter, which the loader may set, and the range of its value. */
#define PARAMETER(range) const volatile fixed32 __attribute__((btf_decl_tag("range " range)))

/* The product of a window and a factor. */
INLINE fixed32 part(fixed32 w, fixed32 factor)
{
	return (w >> 32) * factor + (((w & (ONE - 1)) * factor) >> 32);
}

/* a / w */
INLINE fixed32 share(fixed32 a, fixed32 w)
{
	return (a << 16) / (w >> 16);
}

INLINE fixed32 at_most(fixed32 w, fixed32 most)
{
	return w < most ? w : most;
}

struct state;
INLINE void restart(struct state *state, fixed32 w);
INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked);
INLINE fixed32 cut(struct state *state, fixed32 w);
INLINE void floored(struct state *state, fixed32 w);

INLINE struct state *state_of(struct sock *sk)
{
	return (struct state *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

INLINE struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* The window with its fraction. If the kernel has set another window, the fraction is discarded. */
INLINE fixed32 window_of(struct sock *sk)
{
	fixed32 kept = *(fixed32 *)state_of(sk);
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;

	return SEGMENTS(kept) == cwnd ? kept : WINDOW_OF(cwnd);
}

INLINE void keep(struct sock *sk, fixed32 w)
{
	*(fixed32 *)state_of(sk) = w;
}

/* Whether the window limits the sender. In slow start, the kernel requires that half of it was used. */
INLINE bool is_limited(struct tcp_sock *tp)
{
	if (tp->snd_cwnd < tp->snd_ssthresh)
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return BITS(tp, is_cwnd_limited);
}

/* An ACK outside of recovery. */
INLINE void rule_cong_avoid(struct sock *sk, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	fixed32 w;

	if (!is_limited(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		tcp_slow_start(tp, acked);
		w = WINDOW_OF(tp->snd_cwnd);
		keep(sk, w);
		if (tp->snd_cwnd >= tp->snd_ssthresh)
			restart(state_of(sk), w);
		return;
	}
	w = window_of(sk);
	w = at_most(grow(state_of(sk), w, acked & 0xffff), LARGEST_WINDOW);
	if (SEGMENTS(w) > tp->snd_cwnd_clamp)
		w = WINDOW_OF(tp->snd_cwnd_clamp);
	keep(sk, w);
	tp->snd_cwnd = SEGMENTS(w);
}

/* Congestion: the kernel uses the result as ssthresh, and as the window at the end of recovery. */
INLINE __u32 rule_ssthresh(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	fixed32 w = window_of(sk), left;

	/* The gain of slow start counts as old. */
	if (tp->snd_cwnd < tp->snd_ssthresh)
		restart(state_of(sk), w);
	left = at_most(cut(state_of(sk), w), LARGEST_WINDOW);
	if (left < WINDOW_OF(MIN_SSTHRESH)) {
		left = WINDOW_OF(MIN_SSTHRESH);
		floored(state_of(sk), left);
	}
	keep(sk, left);
	return SEGMENTS(left);
}

/* The last congestion event was spurious. */
INLINE __u32 rule_undo_cwnd(struct sock *sk)
{
	__u32 cwnd = tcp_reno_undo_cwnd(sk);

	if (cwnd != tcp_sk(sk)->snd_cwnd)
		restart(state_of(sk), WINDOW_OF(cwnd));
	return cwnd;
}

/* The functions of an algorithm that the kernel calls. The kernel has zeroed its state. */
#define WINDOW_RULE(algorithm)                                                                 \
	_Static_assert(sizeof(struct state) <= 104, "the kernel has room for 104 bytes");      \
	SEC("struct_ops") void cong_avoid(__u64 *ctx)                                          \
	{                                                                                      \
		rule_cong_avoid((struct sock *)ctx[0], ctx[2]);                                \
	}                                                                                      \
	SEC("struct_ops") __u32 ssthresh(__u64 *ctx)                                           \
	{                                                                                      \
		return rule_ssthresh((struct sock *)ctx[0]);                                   \
	}                                                                                      \
	SEC("struct_ops") __u32 undo_cwnd(__u64 *ctx)                                          \
	{                                                                                      \
		return rule_undo_cwnd((struct sock *)ctx[0]);                                  \
	}                                                                                      \
	SEC(".struct_ops.link") struct tcp_congestion_ops algorithm = {                        \
		.cong_avoid = (void *)cong_avoid,                                              \
		.ssthresh = (void *)ssthresh,                                                  \
		.undo_cwnd = (void *)undo_cwnd,                                                \
		.flags = TCP_CONG_NON_RESTRICTED,                                              \
		.name = #algorithm,                                                            \
	}
