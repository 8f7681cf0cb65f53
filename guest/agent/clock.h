/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ACKCLOCK_CLOCK_H
#define ACKCLOCK_CLOCK_H

#include <linux/time-internal.h>
#include <linux/types.h>

/* Nanoseconds since the guest began. */
u64 ackclock_now(void);
/* An event at this time, or now if the time is past. */
void ackclock_at(struct time_travel_event *event, u64 time);
/* The guest waits for ackclock before it passes this time. */
void ackclock_limit(u64 time);
/* Ackclock empties the records that leave the guest. */
void ackclock_drain(void);
/* The guest runs again. arch/um/kernel/time.c calls it. */
void ackclock_ran(void);

#endif
