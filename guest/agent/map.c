// SPDX-License-Identifier: GPL-2.0
/* Host side of the agent: compiled against the C library of the host, as UML's own os-Linux. */
#include <stddef.h>
#include <sys/mman.h>

void *ackclock_map(int fd, unsigned long size);

void *ackclock_map(int fd, unsigned long size)
{
	void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return place == MAP_FAILED ? NULL : place;
}
