// SPDX-License-Identifier: GPL-2.0
/*
 * MR-AIMD: multi-rate AIMD, whose increase also grows (I. Psaras, M. Dianati, R. Tafazolli, 2009).
 *
 * Each ACK: alpha <- alpha + alpha'/w, then w <- w + alpha/w. A loss: w <- b w, alpha <- b alpha. A mark: alpha' is
 * small until a timeout, and the window stays.
 *
 * The kernel calls ssthresh for a mark as for a loss. For a mark this program returns the window itself. The kernel
 * calls no growth until the window of data with the mark is over, so in_ack_event raises ssthresh. It becomes the
 * window then. A mark ends slow start. Local congestion (a full device queue) counts as a mark.
 *
 * Error: window and alpha have the same error per ACK. It is at most 2^-32 segments too little or a relative
 * 2^-16 / w too much. The error of alpha changes the window by the square of the RTTs. Cuts reduce both errors.
 */
#include "window.h"

struct state {
	fixed32 window;
	fixed32 alpha;
	/* Segments delivered at the last ACK. */
	__u32 delivered;
	/* A mark holds alpha'. */
	bool held;
};

/* Initial increase per round trip in segments. */
PARAMETER("0.0001 65535") alpha = ONE;
/* Lower bound of alpha, at most alpha. */
PARAMETER("0.0001 65535") alpha_min = ONE / 20;
/* Increase of alpha per round trip. */
PARAMETER("0 65535") alpha_prime = ONE / 2;
/* Increase of alpha per round trip while a mark holds it. */
PARAMETER("0 65535") alpha_prime_marked = ONE / 200;
/* Part of the window and of alpha that remains at a loss. */
PARAMETER("0.0001 1") remaining = ONE / 2;

#define LARGEST_ALPHA ((1ULL << 48) - 1)

INLINE void restart(struct state *state, fixed32 w)
{
}

INLINE fixed32 grow(struct state *state, fixed32 w, __u32 acked)
{
	fixed32 faster = state->held ? alpha_prime_marked : alpha_prime;

	state->alpha = at_most(state->alpha + acked * share(faster, w), LARGEST_ALPHA);
	return w + acked * share(state->alpha, w);
}

INLINE fixed32 cut(struct state *state, fixed32 w)
{
	state->alpha = part(state->alpha, remaining);
	if (state->alpha < alpha_min)
		state->alpha = alpha_min;
	return part(w, remaining);
}

INLINE void floored(struct state *state, fixed32 w)
{
}

SEC("struct_ops") void init(__u64 *ctx)
{
	state_of((struct sock *)ctx[0])->alpha = alpha;
}

SEC("struct_ops") void cong_avoid(__u64 *ctx)
{
	rule_cong_avoid((struct sock *)ctx[0], ctx[2]);
}

SEC("struct_ops") __u32 ssthresh(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = tcp_sk(sk);
	fixed32 w;

	/* A mark alone requires no undo of the window. */
	if (tp->prior_ssthresh || tp->undo_marker)
		return rule_ssthresh(sk);
	w = window_of(sk);
	if (w < MIN_SSTHRESH * ONE)
		w = MIN_SSTHRESH * ONE;
	keep(sk, w);
	return w >> 32;
}

SEC("struct_ops") void in_ack_event(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = tcp_sk(sk);
	struct state *state = state_of(sk);
	__u32 acked = tp->delivered - state->delivered;

	state->delivered = tp->delivered;
	if (ctx[1] & CA_ACK_ECE)
		state->held = 1;
	if (BITS((struct inet_connection_sock *)sk, icsk_ca_state) == TCP_CA_CWR && state->window >= ONE) {
		fixed32 w = at_most(grow(state, state->window, acked & 0xffff), LARGEST_WINDOW);

		keep(sk, w);
		tp->snd_ssthresh = w >> 32;
	}
}

SEC("struct_ops") void set_state(__u64 *ctx)
{
	if ((__u8)ctx[1] == TCP_CA_LOSS)
		state_of((struct sock *)ctx[0])->held = 0;
}

SEC("struct_ops") __u32 undo_cwnd(__u64 *ctx)
{
	return rule_undo_cwnd((struct sock *)ctx[0]);
}

_Static_assert(sizeof(struct state) <= 104, "the kernel has room for 104 bytes");

SEC(".struct_ops.link") struct tcp_congestion_ops mr_aimd = {
	.init = (void *)init,
	.cong_avoid = (void *)cong_avoid,
	.ssthresh = (void *)ssthresh,
	.in_ack_event = (void *)in_ack_event,
	.set_state = (void *)set_state,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "mr_aimd",
};
