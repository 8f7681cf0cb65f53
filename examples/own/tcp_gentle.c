// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control of Linux: additive increase, and a decrease that a parameter sets.
 *
 * The window grows as in Reno. At a loss it keeps `keep` percent of itself.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int keep = 80;
module_param(keep, uint, 0444);
MODULE_PARM_DESC(keep, "percent of the window that remains after a loss");

static u32 gentle_ssthresh(struct sock *sk)
{
	u32 window = tcp_snd_cwnd(tcp_sk(sk));

	return max(window * keep / 100, 2U);
}

static struct tcp_congestion_ops gentle = {
	.name = "gentle",
	.owner = THIS_MODULE,
	.ssthresh = gentle_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init gentle_init(void)
{
	if (keep < 1 || keep > 99)
		return -EINVAL;
	return tcp_register_congestion_control(&gentle);
}

static void __exit gentle_exit(void)
{
	tcp_unregister_congestion_control(&gentle);
}

module_init(gentle_init);
module_exit(gentle_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("AIMD with a chosen decrease");
