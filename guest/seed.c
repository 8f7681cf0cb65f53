// SPDX-License-Identifier: GPL-2.0
/*
 * The random numbers that the guest asks of its host: splitmix64 from the environment variable UML_SEED.
 *
 * Ports, initial sequence numbers and timestamp offsets follow from them. Without UML_SEED they come from the host.
 * The build makes the kernel's own function of this name weak, so this one replaces it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <os.h>

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	static uint64_t state;
	static int is_seeded;
	unsigned char *bytes = buf;
	size_t at = 0;

	if (!is_seeded) {
		const char *seed = getenv("UML_SEED");

		if (!seed)
			return getrandom(buf, len, flags);
		state = strtoull(seed, NULL, 0);
		is_seeded = 1;
	}
	while (at < len) {
		uint64_t word = state += 0x9e3779b97f4a7c15u;

		word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
		word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
		word ^= word >> 31;
		for (int byte = 0; byte < 8 && at < len; byte++)
			bytes[at++] = word >> (8 * byte);
	}
	return len;
}
