// SPDX-License-Identifier: GPL-2.0
/* The guest's clock, for the agent. The recipe includes this file at the end of arch/um/kernel/time.c. */
#include "../../../drivers/ackclock/clock.h"

/* An operation of ours beside those of um_timetravel.h: ackclock reads the records of the guest at once. */
#define ACKCLOCK_DRAIN 64

u64 ackclock_now(void)
{
	return time_travel_time;
}

void ackclock_at(struct time_travel_event *event, u64 time)
{
	time_travel_add_event(event, max_t(u64, time, time_travel_time));
}

/* The guest may not pass this time on its own. */
void ackclock_limit(u64 time)
{
#ifdef UM_TIMETRAVEL_SCHEDSHM_VERSION
	if (!time_travel_ext_free_until)
		return;
	time += time_travel_shm_offset;
	if (time < *time_travel_ext_free_until)
		*time_travel_ext_free_until = time;
#else
	if (time_travel_ext_free_until_valid && time < time_travel_ext_free_until)
		time_travel_ext_free_until = time;
#endif
}

void ackclock_drain(void)
{
	time_travel_ext_req(ACKCLOCK_DRAIN, 0);
}
