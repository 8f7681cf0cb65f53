// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion controls as programs of eBPF, run by the kernel's interpreter.
 *
 * User-Mode Linux has no compiler for eBPF, and so no struct_ops. Ackclock relocates the programs of a compiled object
 * to this kernel's structures, checks them and sends them here. Each operation of the table runs its program.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/version.h>
#include <net/tcp.h>
#include "agent.h"

/* Bytes of stack of a program, as the kernel's verifier permits */
#define STACK 512

struct algorithm {
	struct tcp_congestion_ops ops;
	struct bpf_prog *programs[ACKCLOCK_MEMBERS];
};

#define RUN(sk, member, ...)                                                                          \
	({                                                                                            \
		const struct algorithm *it =                                                          \
			container_of(inet_csk(sk)->icsk_ca_ops, struct algorithm, ops);               \
		u64 context[] = { (u64)(sk), ##__VA_ARGS__ };                                         \
		const struct bpf_prog *program = it->programs[member];                                \
                                                                                                      \
		program->bpf_func(context, program->insnsi);                                          \
	})

static void run_init(struct sock *sk)
{
	RUN(sk, ACKCLOCK_INIT);
}

static u32 run_ssthresh(struct sock *sk)
{
	return RUN(sk, ACKCLOCK_SSTHRESH);
}

static void run_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	RUN(sk, ACKCLOCK_CONG_AVOID, ack, acked);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
static void run_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample)
{
	RUN(sk, ACKCLOCK_CONG_CONTROL, ack, flag, (u64)sample);
}
#else
static void run_cong_control(struct sock *sk, const struct rate_sample *sample)
{
	RUN(sk, ACKCLOCK_CONG_CONTROL, (u64)sample);
}
#endif

static void run_set_state(struct sock *sk, u8 state)
{
	RUN(sk, ACKCLOCK_SET_STATE, state);
}

static void run_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	RUN(sk, ACKCLOCK_CWND_EVENT, event);
}

static void run_in_ack_event(struct sock *sk, u32 flags)
{
	RUN(sk, ACKCLOCK_IN_ACK_EVENT, flags);
}

static void run_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	RUN(sk, ACKCLOCK_PKTS_ACKED, (u64)sample);
}

static u32 run_undo_cwnd(struct sock *sk)
{
	return RUN(sk, ACKCLOCK_UNDO_CWND);
}

static u64 call_slow_start(u64 sk, u64 acked, u64 r3, u64 r4, u64 r5)
{
	return tcp_slow_start((struct tcp_sock *)sk, acked);
}

static u64 call_cong_avoid_ai(u64 sk, u64 w, u64 acked, u64 r4, u64 r5)
{
	tcp_cong_avoid_ai((struct tcp_sock *)sk, w, acked);
	return 0;
}

static u64 call_reno_cong_avoid(u64 sk, u64 ack, u64 acked, u64 r4, u64 r5)
{
	tcp_reno_cong_avoid((struct sock *)sk, ack, acked);
	return 0;
}

static u64 call_reno_ssthresh(u64 sk, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return tcp_reno_ssthresh((struct sock *)sk);
}

static u64 call_reno_undo_cwnd(u64 sk, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return tcp_reno_undo_cwnd((struct sock *)sk);
}

static u64 call_ktime(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return ktime_get_mono_fast_ns();
}

static u64 call_jiffies(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return get_jiffies_64();
}

static u64 call_random(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return get_random_u32();
}

static u64 call_probe_read(u64 to, u64 size, u64 from, u64 r4, u64 r5)
{
	memcpy((void *)to, (const void *)from, (u32)size);
	return 0;
}

static u64 call_nothing(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return 0;
}

typedef u64 (*call)(u64, u64, u64, u64, u64);

static const call calls[ACKCLOCK_CALLS] = {
	[ACKCLOCK_CALL_SLOW_START] = call_slow_start,
	[ACKCLOCK_CALL_CONG_AVOID_AI] = call_cong_avoid_ai,
	[ACKCLOCK_CALL_RENO_CONG_AVOID] = call_reno_cong_avoid,
	[ACKCLOCK_CALL_RENO_SSTHRESH] = call_reno_ssthresh,
	[ACKCLOCK_CALL_RENO_UNDO_CWND] = call_reno_undo_cwnd,
	[ACKCLOCK_CALL_KTIME] = call_ktime,
	[ACKCLOCK_CALL_JIFFIES] = call_jiffies,
	[ACKCLOCK_CALL_RANDOM] = call_random,
	[ACKCLOCK_CALL_PROBE_READ] = call_probe_read,
	[ACKCLOCK_CALL_NOTHING] = call_nothing,
};

/* Prepares a program. `at` moves to the next one. */
static struct bpf_prog *new_program(const struct ackclock_program **at, const u8 *data, int *error)
{
	const struct ackclock_program *given = *at;
	const struct bpf_insn *insns = (const void *)(given + 1);
	const struct ackclock_reference *references = (const void *)(insns + given->instructions);
	struct bpf_prog *program = bpf_prog_alloc(bpf_prog_size(given->instructions), GFP_KERNEL);
	u32 index;

	*at = (const void *)(references + given->references);
	if (!program) {
		*error = -ENOMEM;
		return NULL;
	}
	memcpy(program->insnsi, insns, given->instructions * sizeof(*insns));
	program->len = given->instructions;
	program->type = BPF_PROG_TYPE_STRUCT_OPS;
	program->aux->stack_depth = STACK;
	for (index = 0; index < given->references; index++) {
		struct bpf_insn *insn = program->insnsi + references[index].instruction;
		u64 value = references[index].value;

		if (references[index].is_call) {
			insn->src_reg = 0;
			insn->imm = (const u8 *)calls[value] - (const u8 *)__bpf_call_base;
		} else {
			value += (u64)data;
			insn[0].src_reg = 0;
			insn[0].imm = value;
			insn[1].imm = value >> 32;
		}
	}
	for (index = 0; index < program->len; index++) {
		struct bpf_insn *insn = program->insnsi + index;

		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW))
			index++;
		else if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL)
			bpf_patch_call_args(insn, STACK);
	}
	return bpf_prog_select_runtime(program, error);
}

int ackclock_algorithm_add(const struct ackclock_algorithm *given)
{
	const struct ackclock_program *at = (const void *)((const u8 *)(given + 1) + given->data);
	struct algorithm *it = kzalloc(sizeof(*it), GFP_KERNEL);
	u8 *data = kmemdup(given + 1, given->data ?: 1, GFP_KERNEL);
	int error = 0;
	u32 index;

	if (!it || !data)
		return -ENOMEM;
	strscpy(it->ops.name, given->name, sizeof(it->ops.name));
	it->ops.flags = given->flags;
	it->ops.owner = THIS_MODULE;
	for (index = 0; index < given->programs && !error; index++)
		it->programs[at->member] = new_program(&at, data, &error);
	if (error)
		return error;
#define SET(place, member, function)                     \
	do {                                             \
		if (it->programs[member])                \
			it->ops.place = function;        \
	} while (0)
	SET(init, ACKCLOCK_INIT, run_init);
	SET(ssthresh, ACKCLOCK_SSTHRESH, run_ssthresh);
	SET(cong_avoid, ACKCLOCK_CONG_AVOID, run_cong_avoid);
	SET(cong_control, ACKCLOCK_CONG_CONTROL, run_cong_control);
	SET(set_state, ACKCLOCK_SET_STATE, run_set_state);
	SET(cwnd_event, ACKCLOCK_CWND_EVENT, run_cwnd_event);
	SET(in_ack_event, ACKCLOCK_IN_ACK_EVENT, run_in_ack_event);
	SET(pkts_acked, ACKCLOCK_PKTS_ACKED, run_pkts_acked);
	SET(undo_cwnd, ACKCLOCK_UNDO_CWND, run_undo_cwnd);
#undef SET
	return tcp_register_congestion_control(&it->ops);
}

/* Reports the first bit of a structure that is set, and the number of set bits. */
static void add_bits(const char *name, const u8 *bytes, u32 len, u32 size)
{
	struct ackclock_field *field = ackclock_record(ACKCLOCK_FIELDS, 0, sizeof(*field));
	u32 bit;

	*field = (struct ackclock_field){ .structure = 0, .size = size };
	strscpy(field->name, name, sizeof(field->name));
	for (bit = 0; bit < 8 * len; bit++) {
		if (!(bytes[bit / 8] >> bit % 8 & 1))
			continue;
		if (!field->bits++)
			field->bit_offset = bit;
	}
}

static void add(const char *name, u32 structure, u32 offset, u32 size)
{
	struct ackclock_field *field = ackclock_record(ACKCLOCK_FIELDS, 0, sizeof(*field));

	*field = (struct ackclock_field){ .structure = structure, .bit_offset = 8 * offset, .size = size };
	strscpy(field->name, name, sizeof(field->name));
}

#define ADD(structure, number, field) add(#field, number, offsetof(struct structure, field), sizeof_field(struct structure, field))
#define ADD_BITS(structure, field, size)                          \
	do {                                                      \
		struct structure *it = kzalloc(sizeof(*it), GFP_KERNEL); \
                                                                  \
		if (!it)                                          \
			panic("ackclock: no memory");             \
		it->field = ~0;                                   \
		add_bits(#field, (const u8 *)it, sizeof(*it), size); \
		kfree(it);                                        \
	} while (0)

/* A socket is a struct tcp_sock, and begins with the other structures of a socket. */
void ackclock_algorithms_init(void)
{
	add("", 0, 0, sizeof(struct tcp_sock));
	add("", 1, 0, sizeof(struct ack_sample));
	add("", 2, 0, sizeof(struct rate_sample));
	ADD(tcp_sock, 0, snd_cwnd);
	ADD(tcp_sock, 0, snd_cwnd_cnt);
	ADD(tcp_sock, 0, snd_cwnd_clamp);
	ADD(tcp_sock, 0, snd_cwnd_stamp);
	ADD(tcp_sock, 0, snd_ssthresh);
	ADD(tcp_sock, 0, prior_cwnd);
	ADD(tcp_sock, 0, prior_ssthresh);
	ADD(tcp_sock, 0, undo_marker);
	ADD(tcp_sock, 0, snd_una);
	ADD(tcp_sock, 0, snd_nxt);
	ADD(tcp_sock, 0, rcv_nxt);
	ADD(tcp_sock, 0, delivered);
	ADD(tcp_sock, 0, delivered_ce);
	ADD(tcp_sock, 0, lost);
	ADD(tcp_sock, 0, packets_out);
	ADD(tcp_sock, 0, max_packets_out);
	ADD(tcp_sock, 0, srtt_us);
	ADD(tcp_sock, 0, tcp_mstamp);
	ADD(tcp_sock, 0, lsndtime);
	ADD(tcp_sock, 0, mss_cache);
	ADD(tcp_sock, 0, ecn_flags);
	ADD(tcp_sock, 0, app_limited);
	ADD(tcp_sock, 0, retrans_out);
	ADD(tcp_sock, 0, lost_out);
	ADD(tcp_sock, 0, sacked_out);
	ADD_BITS(tcp_sock, is_cwnd_limited, 4);
	ADD(inet_connection_sock, 0, icsk_retransmits);
	ADD(inet_connection_sock, 0, icsk_ack.pending);
	ADD(inet_connection_sock, 0, icsk_ca_priv);
	ADD_BITS(inet_connection_sock, icsk_ca_state, 1);
	ADD(sock, 0, sk_pacing_rate);
	ADD(sock, 0, sk_pacing_status);
	ADD(sock, 0, sk_max_pacing_rate);
	ADD(ack_sample, 1, pkts_acked);
	ADD(ack_sample, 1, rtt_us);
	ADD(ack_sample, 1, in_flight);
	ADD(rate_sample, 2, prior_delivered);
	ADD(rate_sample, 2, delivered);
	ADD(rate_sample, 2, delivered_ce);
	ADD(rate_sample, 2, interval_us);
	ADD(rate_sample, 2, rtt_us);
	ADD(rate_sample, 2, losses);
	ADD(rate_sample, 2, acked_sacked);
	ADD(rate_sample, 2, prior_in_flight);
	ADD(rate_sample, 2, last_end_seq);
	ADD(rate_sample, 2, is_app_limited);
	ADD(rate_sample, 2, is_retrans);
}
