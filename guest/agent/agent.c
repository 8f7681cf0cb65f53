// SPDX-License-Identifier: GPL-2.0
/*
 * The agent of ackclock in a guest: User-Mode Linux in time-travel mode.
 *
 * The guest and ackclock share memory. Ackclock writes records with packets and commands, each with its time. The
 * agent makes one event of the guest for the next record. The guest writes records with its packets and with the
 * state of its connections. Either side reads while the other one waits, so the memory needs no lock.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include "agent.h"
#include "clock.h"

void *ackclock_map(int fd, unsigned long size);

struct ackclock_shared *ackclock_shared;
static int memory = -1;

core_param(ackclock_memory, memory, int, 0);

static void arrive(struct time_travel_event *event);
static struct time_travel_event arrival = { .fn = arrive };

static u8 *out_records(void)
{
	return (u8 *)ackclock_shared + ACKCLOCK_HEADER;
}

static u8 *in_records(void)
{
	return out_records() + ackclock_shared->out_size;
}

void *ackclock_record(u16 kind, u16 flow, u32 len)
{
	struct ackclock_shared *shared = ackclock_shared;
	u32 size = sizeof(struct ackclock_record) + ALIGN(len, 8);
	struct ackclock_record *record;

	if (shared->out_len + size > shared->out_size)
		ackclock_drain();
	record = (void *)(out_records() + shared->out_len);
	*record = (struct ackclock_record){ ackclock_now(), len, kind, flow };
	shared->out_len += size;
	return record + 1;
}

void ackclock_failed(u16 flow, const char *what, int error, const char *known)
{
	char text[512];
	int len = scnprintf(text, sizeof(text), "%s\n%d\n", what, error);
	char *content = ackclock_record(ACKCLOCK_FAILED, flow, len + strlen(known));

	memcpy(content, text, len);
	memcpy(content + len, known, strlen(known));
}

/* The next record that comes to the guest, or none. */
static struct ackclock_record *next_record(void)
{
	struct ackclock_shared *shared = ackclock_shared;

	if (shared->in_read >= shared->in_len)
		return NULL;
	return (void *)(in_records() + shared->in_read);
}

/* Ackclock may have written a record before those that the guest had. */
static void await(void)
{
	struct ackclock_record *record = next_record();

	if (!record || (arrival.pending && arrival.time <= record->time))
		return;
	time_travel_del_event(&arrival);
	ackclock_at(&arrival, record->time);
}

static void arrive(struct time_travel_event *event)
{
	struct ackclock_record *record;

	while ((record = next_record()) && record->time <= ackclock_now()) {
		ackclock_shared->in_read += sizeof(*record) + ALIGN(record->len, 8);
		if (record->kind == ACKCLOCK_PACKET || record->kind == ACKCLOCK_CORRUPTED)
			ackclock_link_receive(record + 1, record->len, record->kind == ACKCLOCK_CORRUPTED);
		else
			ackclock_flows_command(record, record + 1);
	}
	await();
}

void ackclock_ran(void)
{
	if (ackclock_shared)
		await();
}

static int __init ackclock_init(void)
{
	struct ackclock_shared *header;
	unsigned long size;
	int error;

	if (memory < 0)
		return 0;
	header = ackclock_map(memory, ACKCLOCK_HEADER);
	if (!header || header->magic != ACKCLOCK_MAGIC || header->version != ACKCLOCK_VERSION)
		panic("ackclock: the shared memory has another layout");
	size = ACKCLOCK_HEADER + header->out_size + header->in_size;
	ackclock_shared = ackclock_map(memory, size);
	if (!ackclock_shared)
		panic("ackclock: the shared memory cannot be mapped");
	ackclock_words();
	error = ackclock_link_init();
	if (!error)
		error = ackclock_queue_init();
	if (!error)
		error = ackclock_flows_init();
	if (error)
		panic("ackclock: the agent cannot start: %pe", ERR_PTR(error));
	ackclock_algorithms_init();
	ackclock_shared->ready = 1;
	/* Nothing in user space is needed. */
	for (;;) {
		set_current_state(TASK_IDLE);
		schedule();
	}
}
late_initcall_sync(ackclock_init);
