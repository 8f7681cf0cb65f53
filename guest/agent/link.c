// SPDX-License-Identifier: GPL-2.0
/* The only network device of a guest. It carries IP packets without a link header, as TUN devices do. */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/sockios.h>
#include "agent.h"
#include "clock.h"

static struct net_device *link;

static netdev_tx_t link_xmit(struct sk_buff *skb, struct net_device *dev)
{
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) {
		dev->stats.tx_dropped++;
		goto done;
	}
	skb_copy_bits(skb, 0, ackclock_record(ACKCLOCK_PACKET, 0, skb->len), skb->len);
	ackclock_limit(ackclock_now() + ackclock_shared->response);
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
done:
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops link_ops = {
	.ndo_start_xmit = link_xmit,
};

static void link_setup(struct net_device *dev)
{
	dev->netdev_ops = &link_ops;
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->min_mtu = 68;
	dev->max_mtu = 65535;
	dev->tx_queue_len = 1000;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	dev->features = dev->hw_features;
}

void ackclock_link_receive(const void *packet, u32 len, bool is_corrupted)
{
	struct sk_buff *skb = netdev_alloc_skb(link, len);

	if (!skb) {
		link->stats.rx_dropped++;
		return;
	}
	skb_put_data(skb, packet, len);
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	/* The path changes no other bits, so that only a corrupted packet needs its checksum. */
	skb->ip_summed = is_corrupted ? CHECKSUM_NONE : CHECKSUM_UNNECESSARY;
	link->stats.rx_packets++;
	link->stats.rx_bytes += len;
	netif_rx(skb);
}

static int set_address(const char *name, u32 address, u32 mask)
{
	struct ifreq request = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
	int error;

	strscpy(request.ifr_name, name, sizeof(request.ifr_name));
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(address);
	error = devinet_ioctl(&init_net, SIOCSIFADDR, &request);
	if (error)
		return error;
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(mask);
	return devinet_ioctl(&init_net, SIOCSIFNETMASK, &request);
}

int __init ackclock_link_init(void)
{
	/* One half of 10.0.0.0/8 has the addresses of the senders, and the other those of the receivers. */
	u32 half = 10u << 24 | ackclock_shared->side << 23;
	int error;

	link = alloc_netdev(0, "link", NET_NAME_PREDICTABLE, link_setup);
	if (!link)
		return -ENOMEM;
	rtnl_lock();
	link->mtu = ackclock_shared->mtu;
	error = register_netdevice(link);
	if (!error)
		error = dev_change_flags(init_net.loopback_dev, init_net.loopback_dev->flags | IFF_UP, NULL);
	if (!error)
		error = dev_change_flags(link, link->flags | IFF_UP, NULL);
	rtnl_unlock();
	ackclock_shared->link = link->ifindex;
	/* The loopback device makes the own half local. The link leads to the other one. */
	if (!error)
		error = set_address("lo:1", half + 1, 0xff800000);
	if (!error)
		error = set_address("link", half | 0x7ffffe, 0xff000000);
	return error;
}
