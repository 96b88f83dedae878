/* What a compiled queue discipline exports, for the core. Times are nanoseconds of simulated time. */
#ifndef SOJOURN_QUEUE_H
#define SOJOURN_QUEUE_H

#include <stdint.h>

#define SOJOURN_QUEUE_ABI 2u

struct sojourn_queue_init {
	uint32_t mtu;      /* IP bytes of a full packet */
	uint32_t overhead; /* bytes of the link's header, which the discipline counts */
	uint64_t now;
	uint64_t seed;
};

/* An attribute: a number, or bytes. */
struct sojourn_attribute {
	const char *name;
	double value;
	const uint8_t *bytes; /* null for a number */
	uint32_t count;
};

/* Of an acknowledgment; else only the flag ACK. Numbers count segments. */
struct sojourn_tcp {
	uint32_t flags;    /* as in the header: 0x10 is ACK, 0x100 AE */
	uint32_t ack;      /* the segment that it asks for */
	uint32_t options;  /* whether there are options: a timestamp, and these blocks if any */
	uint32_t sent, echoed; /* ms */
	uint32_t blocks;
	uint32_t sack[3][2];
};

struct sojourn_packet {
	uint32_t packet; /* what the caller knows it by */
	uint32_t size;   /* IP bytes */
	uint32_t tos;    /* codepoint and ECN field */
	uint32_t source, destination; /* hosts */
	uint32_t ports;
	uint32_t protocol;
	struct sojourn_tcp tcp;
};

/* What the discipline tells while it runs: packets by their numbers. */
typedef void (*sojourn_queue_tell)(void *out, uint32_t packet, uint32_t ecn);
struct sojourn_queue_listener {
	void *out;
	sojourn_queue_tell dropped;
	sojourn_queue_tell marked;
};

struct sojourn_queue {
	uint32_t abi;
	uint32_t size;
	/* Null, and what is wrong in `error`, of 256 bytes. */
	void *(*create)(const struct sojourn_queue_init *init, const struct sojourn_attribute *given,
			uint32_t count, char *error);
	void (*destroy)(void *self);
	void (*enqueue)(void *self, uint64_t now, const struct sojourn_packet *packet,
			const struct sojourn_queue_listener *listener);
	/* The packet's number, and its codepoint and ECN field in `tos`; UINT32_MAX for none. */
	uint32_t (*dequeue)(void *self, uint64_t now, uint32_t *tos,
			    const struct sojourn_queue_listener *listener);
	uint64_t (*next_timer)(const void *self); /* UINT64_MAX for none */
	void (*on_timer)(void *self, uint64_t now, const struct sojourn_queue_listener *listener);
	uint32_t (*full)(const void *self); /* whether it holds as many packets as it may */
	uint32_t (*can_bypass)(const void *self); /* whether an idle link may pass it by */
	void (*observe)(const void *self, void *out, void (*tell)(void *, const char *, double));
};

const struct sojourn_queue *sojourn_queue(void);

#endif
