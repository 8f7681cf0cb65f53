// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a rule given as text (docs/reference/rules.md): the operations of its compiled form, in the table `rule`.
 *
 * Only that table differs between the objects of rules, so the verifier sees the same program each time. The table is
 * a constant for the kernel, which removes the unused operations.
 *
 * The arithmetic has no error. Windows and states are IEEE 754 doubles, and so is the arithmetic (real.h). A power is
 * a product, so its last digits may differ from a library's. Each factor adds a relative 2^-53 at most.
 *
 * A formula may give a value that is not finite, or a negative window. An ACK then keeps the window, and a congestion
 * event halves it. The remaining assignments of the list are skipped.
 */
#include "real.h"

#define WINDOW_OF(segments) real_of(segments)
#define SEGMENTS(w) whole_of(w)
/* The largest number below 2^24. */
#define LARGEST_WINDOW 0x416fffffffffffffULL

#include "window.h"

/* Numbers of operands: variables, then states, then results of operations, then constants. */
#define VARIABLES 11
#define STATES 9
#define REGISTERS 32
#define CONSTANTS 64
#define OPERATIONS 512

enum variable {
	W, ACKED, SSTHRESH, SRTT, RTT, MIN_RTT, QUEUE_DELAY, IN_FLIGHT, MSS, TIME, SINCE_CUT,
};

enum event { ON_ACK, ON_RESTART, GROW, CUT, ON_FLOOR, ON_TIMEOUT, EVENTS };

enum code {
	ADD, SUBTRACT, MULTIPLY, DIVIDE, LESS, LESS_OR_EQUAL, EQUAL, NOT_EQUAL, AND, OR, NOT, MIN, MAX, IF, SQRT, ABS,
	FLOOR, NEGATE, SET,
};

struct operation {
	__u8 code;
	/* The index of the result, and the indices of the operands. */
	__u8 to;
	__u8 operands[3];
	__u8 unused[3];
};

struct rule {
	struct {
		__u16 first;
		__u16 count;
	} events[EVENTS];
	/* The variables in use, as bits. */
	__u32 uses;
	__u32 states;
	real initial[STATES];
	real constants[CONSTANTS];
	struct operation operations[OPERATIONS];
};

const volatile struct rule rule = {};

struct state {
	real window;
	real states[STATES];
	/* RTT of the last acknowledged segment, and the smallest. Both are 0 before the first. */
	__u32 rtt_us;
	__u32 min_rtt_us;
	/* The first event, and the last congestion event. */
	__u64 began_us;
	__u64 cut_us;
};

INLINE struct sock *sock_of(struct state *state)
{
	return (struct sock *)((char *)state - __builtin_preserve_field_info(
						       ((struct inet_connection_sock *)0)->icsk_ca_priv, BYTE_OFFSET));
}

INLINE bool uses(enum variable variable)
{
	return rule.uses >> variable & 1;
}

/* In seconds. */
INLINE real seconds(__u64 us)
{
	return real_divide(real_of(us), 0x412e848000000000ULL /* 10^6 */);
}

/* The first event, from which time counts. */
INLINE void begin(struct sock *sk)
{
	struct state *state = state_of(sk);

	if (!state->began_us) {
		state->began_us = tcp_sk(sk)->tcp_mstamp;
		state->cut_us = state->began_us;
	}
}

/* The numbers of the path and of the clock that the rule uses. */
INLINE void observe(struct sock *sk, real *registers)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct state *state = state_of(sk);

	if (uses(SSTHRESH))
		registers[SSTHRESH] = tp->snd_ssthresh < 0x7fffffff ? real_of(tp->snd_ssthresh) : INFINITE;
	if (uses(SRTT))
		registers[SRTT] = seconds(tp->srtt_us >> 3);
	if (uses(RTT))
		registers[RTT] = seconds(state->rtt_us);
	if (uses(MIN_RTT))
		registers[MIN_RTT] = seconds(state->min_rtt_us);
	if (uses(QUEUE_DELAY))
		registers[QUEUE_DELAY] = seconds(state->rtt_us - state->min_rtt_us);
	if (uses(IN_FLIGHT))
		registers[IN_FLIGHT] =
			real_of((__u32)(tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out));
	if (uses(MSS))
		registers[MSS] = real_of(tp->mss_cache);
	if (uses(TIME) || uses(SINCE_CUT)) {
		begin(sk);
		registers[TIME] = seconds(tp->tcp_mstamp - state->began_us);
		registers[SINCE_CUT] = seconds(tp->tcp_mstamp - state->cut_us);
	}
}

INLINE real number(const real *registers, __u8 at)
{
	if (at < REGISTERS)
		return registers[at];
	return rule.constants[(at - REGISTERS) & (CONSTANTS - 1)];
}

/* The result of an operation with two operands, or of IF. */
INLINE real result(__u8 code, real a, real b, real c)
{
	switch (code) {
	case ADD: return real_add(a, b);
	case SUBTRACT: return real_add(a, real_negate(b));
	case MULTIPLY: return real_multiply(a, b);
	case DIVIDE: return real_divide(a, b);
	case LESS: return real_less(a, b);
	case LESS_OR_EQUAL: return real_less_or_equal(a, b);
	case EQUAL: return real_equal(a, b);
	case NOT_EQUAL: return real_not(real_equal(a, b));
	case AND: return real_and(a, b);
	case OR: return real_or(a, b);
	case NOT: return real_not(a);
	case MIN: return real_min(a, b);
	case MAX: return real_max(a, b);
	case IF: return real_if(a, b, c);
	case SQRT: return real_sqrt(a);
	case ABS: return a & ~SIGN;
	case FLOOR: return real_floor(a);
	case NEGATE: return real_negate(a);
	default: return a;
	}
}

/*
 * Runs the operations of an event at the window w, and returns the last result. Jumps depend only on the table,
 * except after a value that is not finite. This limits the paths that the verifier checks.
 */
static __attribute__((noinline)) real happens(struct sock *sk, enum event event, real w, __u32 acked)
{
	struct state *state = state_of(sk);
	real registers[REGISTERS] = {}, value = 0;
	__u32 first = rule.events[event].first, count = rule.events[event].count;

	if (!count)
		return 0;
	registers[W] = w;
	registers[ACKED] = real_of(acked);
	observe(sk, registers);
	for (__u32 i = 0; i < STATES; i++)
		if (i < rule.states)
			registers[VARIABLES + i] = state->states[i];
	for (__u32 i = 0; i < OPERATIONS; i++) {
		const volatile struct operation *operation = &rule.operations[(first + i) & (OPERATIONS - 1)];
		__u8 to = operation->to;

		if (i >= count)
			break;
		value = result(operation->code, number(registers, operation->operands[0]),
			       number(registers, operation->operands[1]), number(registers, operation->operands[2]));
		if (operation->code == SET && !is_finite(value)) {
			value = NOT_A_NUMBER;
			break;
		}
		if (to < REGISTERS)
			registers[to] = value;
	}
	for (__u32 i = 0; i < STATES; i++)
		if (i < rule.states)
			state->states[i] = registers[VARIABLES + i];
	return value;
}

INLINE bool is_window(real w)
{
	return is_finite(w) && !(w >> 63);
}

INLINE void restart(struct state *state, real w)
{
	happens(sock_of(state), ON_RESTART, w, 0);
}

INLINE real grow(struct state *state, real w, __u32 acked)
{
	real grown = happens(sock_of(state), GROW, w, acked);

	if (!is_window(grown))
		return w;
	return grown < REAL_ONE ? REAL_ONE : grown;
}

INLINE real cut(struct state *state, real w)
{
	struct sock *sk = sock_of(state);
	real left = happens(sk, CUT, w, 0);

	state->cut_us = tcp_sk(sk)->tcp_mstamp;
	return is_window(left) ? left : real_multiply(w, REAL_ONE - (1ULL << 52));
}

INLINE void floored(struct state *state, real w)
{
	happens(sock_of(state), ON_FLOOR, w, 0);
}

SEC("struct_ops") void init(__u64 *ctx)
{
	struct state *state = state_of((struct sock *)ctx[0]);

	for (__u32 i = 0; i < STATES; i++)
		state->states[i] = rule.initial[i];
}

SEC("struct_ops") void pkts_acked(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct ack_sample *sample = (const struct ack_sample *)ctx[1];
	struct state *state = state_of(sk);

	begin(sk);
	if (sample->rtt_us > 0) {
		state->rtt_us = sample->rtt_us;
		if (!state->min_rtt_us || state->rtt_us < state->min_rtt_us)
			state->min_rtt_us = state->rtt_us;
	}
	if (rule.events[ON_ACK].count)
		happens(sk, ON_ACK, window_of(sk), sample->pkts_acked);
}

SEC("struct_ops") void cwnd_event(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];

	if (rule.events[ON_TIMEOUT].count && (__u32)ctx[1] == CA_EVENT_LOSS)
		happens(sk, ON_TIMEOUT, window_of(sk), 0);
}

SEC("struct_ops") void cong_avoid(__u64 *ctx)
{
	rule_cong_avoid((struct sock *)ctx[0], ctx[2]);
}

SEC("struct_ops") __u32 ssthresh(__u64 *ctx)
{
	return rule_ssthresh((struct sock *)ctx[0]);
}

SEC("struct_ops") __u32 undo_cwnd(__u64 *ctx)
{
	return rule_undo_cwnd((struct sock *)ctx[0]);
}

_Static_assert(sizeof(struct state) <= 104, "the kernel has room for 104 bytes");

SEC(".struct_ops.link") struct tcp_congestion_ops rule_text = {
	.init = (void *)init,
	.cong_avoid = (void *)cong_avoid,
	.ssthresh = (void *)ssthresh,
	.cwnd_event = (void *)cwnd_event,
	.pkts_acked = (void *)pkts_acked,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "rule_text",
};
