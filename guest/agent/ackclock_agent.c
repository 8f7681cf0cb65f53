// SPDX-License-Identifier: GPL-2.0
/* The agent of ackclock in a guest. It does nothing yet. */
#include <linux/init.h>
#include <linux/module.h>

static int __init ackclock_agent_init(void)
{
	return 0;
}

module_init(ackclock_agent_init);
MODULE_DESCRIPTION("Agent of ackclock");
MODULE_LICENSE("GPL");
