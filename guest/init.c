// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of a guest. It prepares the guest from words of the kernel's command line, and then sleeps.
 *
 * ackclock.sysctl=PATH:VALUE writes VALUE to /proc/sys/PATH. A comma in VALUE is written as a space.
 *
 * ackclock.address=DEVICE:ADDRESS/BITS gives DEVICE an IPv4 address and starts it.
 *
 * ackclock.arp=DEVICE:ADDRESS:MAC adds a permanent ARP entry, so no ARP packet is sent.
 *
 * Words are read from left to right, and each may be repeated. A word that fails ends the guest with a message.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "ackclock."

static char words[4096];

static void end(const char *word, const char *reason)
{
	printf("ackclock init: %s: %s\n", word, reason);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void write_sysctl(const char *word, char *value)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), "/proc/sys/%s", word);
	for (char *comma = value; (comma = strchr(comma, ',')); )
		*comma = ' ';
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, value, strlen(value)) < 0)
		end(path, strerror(errno));
	close(file);
}

static void set_address(const char *text, struct sockaddr *address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	in->sin_family = AF_INET;
	if (inet_pton(AF_INET, text, &in->sin_addr) != 1)
		end(text, "not an IPv4 address");
}

static void start(int socket, const char *device, const char *address, int bits)
{
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (bits < 1 || bits > 32)
		end(device, "expected an address with 1 to 32 bits of network");
	set_address(address, &request.ifr_addr);
	if (ioctl(socket, SIOCSIFADDR, &request) < 0)
		end(device, strerror(errno));
	((struct sockaddr_in *)&request.ifr_netmask)->sin_addr.s_addr = htonl(0xffffffffu << (32 - bits));
	if (ioctl(socket, SIOCSIFNETMASK, &request) < 0 || ioctl(socket, SIOCGIFFLAGS, &request) < 0)
		end(device, strerror(errno));
	request.ifr_flags |= IFF_UP;
	if (ioctl(socket, SIOCSIFFLAGS, &request) < 0)
		end(device, strerror(errno));
}

static void add_arp(int socket, const char *device, const char *address, const char *mac)
{
	struct arpreq request = {0};
	unsigned char *byte = (unsigned char *)request.arp_ha.sa_data;

	set_address(address, &request.arp_pa);
	request.arp_ha.sa_family = ARPHRD_ETHER;
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", byte, byte + 1, byte + 2, byte + 3, byte + 4, byte + 5) != 6)
		end(mac, "not a MAC address");
	request.arp_flags = ATF_COM | ATF_PERM;
	snprintf(request.arp_dev, sizeof(request.arp_dev), "%s", device);
	if (ioctl(socket, SIOCSARP, &request) < 0)
		end(device, strerror(errno));
}

/* Returns the text after the first separator, which becomes the end of the text before it. */
static char *after(char *text, char separator)
{
	char *found = strchr(text, separator);

	if (!found)
		end(text, "incomplete");
	*found = 0;
	return found + 1;
}

static void obey(int socket, char *word)
{
	char *value = after(word, '='), *second = after(value, ':'), *third;

	if (!strcmp(word, "sysctl")) {
		write_sysctl(value, second);
	} else if (!strcmp(word, "address")) {
		third = after(second, '/');
		start(socket, value, second, atoi(third));
	} else if (!strcmp(word, "arp")) {
		third = after(second, ':');
		add_arp(socket, value, second, third);
	} else {
		end(word, "unknown");
	}
}

int main(void)
{
	int file, socket_of_host;
	ssize_t length;

	mkdir("/proc", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL))
		end("/proc", strerror(errno));
	file = open("/proc/cmdline", O_RDONLY);
	length = file < 0 ? -1 : read(file, words, sizeof(words) - 1);
	if (length < 0)
		end("/proc/cmdline", strerror(errno));
	close(file);
	socket_of_host = socket(AF_INET, SOCK_DGRAM, 0);
	if (socket_of_host < 0)
		end("socket", strerror(errno));
	for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n"))
		if (!strncmp(word, PREFIX, strlen(PREFIX)))
			obey(socket_of_host, word + strlen(PREFIX));
	close(socket_of_host);
	for (;;)
		pause();
}
