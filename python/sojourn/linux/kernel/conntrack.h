/* Connections that a NAT of the same router tracks. */
#ifndef SOJOURN_KERNEL_CONNTRACK_H
#define SOJOURN_KERNEL_CONNTRACK_H

#include "sk_buff.h"

/* Whose address the NAT has replaced by the router's: SOJOURN_MASQUERADE is one of them. */
enum { MASQUERADE_NONE, MASQUERADE_SOURCE, MASQUERADE_DESTINATION };
#define SOJOURN_ROUTER 0x0affffff

union nf_inet_addr { u32 ip; };
struct sojourn_tuple_end { union nf_inet_addr u3; union { u16 all; } u; };
struct nf_conntrack_tuple { struct sojourn_tuple_end src, dst; };

/* The tuple that a packet's connection has on the other side of the NAT, where hosts have their own
 * addresses: of the packet's direction if it has passed the NAT, which tells it by `_nfct`; else, as
 * it is looked up by its header, of the opposite one. Ports are kept, since no two connections of a
 * run have the same. Without a NAT there is no connection.
 */
static inline bool nf_ct_get_tuple_skb(struct nf_conntrack_tuple *tuple, const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	const struct tcphdr *tcp = tcp_hdr(skb);
	bool passed = skb->_nfct;

	if (!skb->hidden)
		return false;
	*tuple = (struct nf_conntrack_tuple){
		.src = { { skb->hidden }, { passed ? tcp->source : tcp->dest } },
		.dst = { { passed ? ip->daddr : ip->saddr }, { passed ? tcp->dest : tcp->source } },
	};
	return true;
}

#endif
