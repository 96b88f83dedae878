/* Congestion controls in shared libraries, for C, C++ and whatever else speaks C.
 *
 * A library exports one function, `sojourn_cca`, that returns its description. A control keeps what
 * it knows in what `create` returns, never in globals: a run may have many. Times and spans are
 * nanoseconds of simulated time, windows are segments, rates are bits of payload per second.
 *
 * Structures that Sojourn passes begin with their size: a later version of this header may add fields
 * at the end. The description begins with the version that the library was built for; Sojourn refuses
 * others.
 */
#ifndef SOJOURN_CCA_H
#define SOJOURN_CCA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOJOURN_CCA_ABI 2u

/* No time: never, or not known. */
#define SOJOURN_NEVER UINT64_MAX
/* A slow-start threshold that no window reaches. */
#define SOJOURN_INFINITE_SSTHRESH 0x7fffffffu

/* The sender's loss-recovery state, as Linux names them. */
enum sojourn_state { SOJOURN_OPEN, SOJOURN_DISORDER, SOJOURN_CWR, SOJOURN_RECOVERY, SOJOURN_LOSS };

/* What a control is told about the connection it serves. */
struct sojourn_init {
    uint32_t size;
    uint32_t initial_window; /* segments */
    uint32_t mss;            /* payload bytes of a full segment */
    uint32_t packet_size;    /* IP packet size of a full segment, bytes */
    uint64_t now;
    uint64_t seed;  /* for the control's random draws */
    uint32_t paced; /* whether the sender paces all controls */
    uint32_t initial_ssthresh; /* what the host remembers, or SOJOURN_INFINITE_SSTHRESH */
};

/* All that the sender measured on one arriving ACK, after loss detection has run on it. */
struct sojourn_ack {
    uint32_t size;
    uint32_t state;           /* enum sojourn_state, after this ACK */
    uint32_t may_grow;        /* new data, and no window reduction under way */
    uint32_t cwnd_limited;    /* the window limited sending in the last round */
    uint32_t acked;           /* segments newly acknowledged or SACKed */
    uint32_t cum_acked;       /* segments that the cumulative acknowledgment covers newly */
    uint32_t lost;            /* segments newly marked lost */
    uint32_t prior_in_flight; /* segments in flight before this ACK */
    uint32_t in_flight;       /* segments in flight after it */
    uint32_t una;             /* first segment not yet cumulatively acknowledged */
    uint32_t next;            /* next segment that will be sent for the first time */
    uint32_t ece;             /* ECN echo */
    uint32_t esce;            /* SCE echo */
    uint32_t app_limited;     /* the sender had nothing more to send in the last round */
    uint32_t ack_delayed;     /* the ACK answers a single segment late */
    uint32_t tx_in_flight;    /* rate sample: segments in flight when its segment was sent */
    uint64_t rtt;             /* this ACK's sample, or SOJOURN_NEVER */
    uint64_t srtt;            /* 0 before the first sample */
    uint64_t min_rtt;         /* over 5 minutes; SOJOURN_NEVER before the first sample */
    uint64_t delivered;       /* segments since the connection began */
    uint64_t delivered_ce;    /* of those, known to have been CE-marked */
    uint64_t total_lost;      /* segments marked lost since the connection began */
    uint64_t rate_interval;   /* rate sample: span over which rate_delivered were delivered */
    uint64_t prior_delivered; /* rate sample: `delivered` when its segment was sent */
    uint64_t prior_delivered_ce;
    uint64_t prior_lost;
    uint32_t rate_valid; /* whether there is a rate sample */
    uint32_t rate_delivered;
    uint32_t rate_app_limited;
    uint32_t rate_retransmitted;
};

enum sojourn_event_kind {
    SOJOURN_EVENT_LOSS,          /* fast recovery begins: choose a new ssthresh; in_flight */
    SOJOURN_EVENT_ECN,           /* an ECN echo begins a reduction: the same */
    SOJOURN_EVENT_RTO,           /* the timer fired: take cwnd; if reduce, a new ssthresh; in_flight */
    SOJOURN_EVENT_REDUCTION_END, /* the reduction is complete: take cwnd */
    SOJOURN_EVENT_RECOVERED,     /* the state is open again */
    SOJOURN_EVENT_TX_START,      /* new data goes out although nothing is in flight; idle */
    SOJOURN_EVENT_RESTART        /* after idle: take cwnd and ssthresh */
};

/* What happened other than a plain ACK. Fields that a kind does not name are 0. */
struct sojourn_event {
    uint32_t size;
    uint32_t kind; /* enum sojourn_event_kind */
    uint32_t in_flight;
    uint32_t cwnd;
    uint32_t ssthresh;
    uint32_t reduce;
    uint64_t idle;
};

/* A segment at the time of its (re)transmission. */
struct sojourn_sent {
    uint32_t size;
    uint32_t seq;
    uint32_t in_flight; /* this one included */
    uint32_t retransmission;
};

/* A segment that has just been marked lost. */
struct sojourn_lost {
    uint32_t size;
    uint32_t seq;
    uint32_t tx_in_flight; /* when it was last sent, it included */
    uint32_t app_limited;
    uint64_t prior_delivered;
    uint64_t prior_lost;
    uint64_t total_lost;
};

/* Where in its work the sender is when it shows its state. */
enum sojourn_step {
    SOJOURN_STEP_CALLBACK, /* before the callback that follows */
    SOJOURN_STEP_MEASURED, /* an ACK is measured, losses are not yet looked for */
    SOJOURN_STEP_STATE,    /* the recovery state is about to become `next_state` */
    SOJOURN_STEP_ARRIVAL   /* at the receiver: ECN-capable data has arrived; `decide` is asked next */
};

/* The sender's own state, for code that was written to read it, such as kernel modules. */
struct sojourn_view {
    uint32_t size;
    uint32_t step;       /* enum sojourn_step */
    uint32_t next_state; /* of SOJOURN_STEP_STATE; the next six are of SOJOURN_STEP_MEASURED */
    uint32_t cum_acked;  /* segments that the cumulative acknowledgment covers newly */
    uint32_t ack_in_flight; /* delivered since the newest segment that the ACK covers was sent */
    uint32_t ece;
    uint32_t window_update; /* it changed the receiver's window */
    uint32_t slow_path;     /* header prediction could not process it */
    uint64_t rtt;           /* the sample, or SOJOURN_NEVER */
    uint32_t state;         /* enum sojourn_state */
    uint32_t cwnd;          /* in force: the sender's own during a reduction */
    uint32_t una;
    uint32_t next;
    uint32_t packets_out;
    uint32_t sacked_out;
    uint32_t lost_out;
    uint32_t retrans_out;
    uint32_t reordering;
    uint32_t max_packets_out; /* most packets out in the last round */
    uint32_t cwnd_limited;    /* whether the window was what limited sending */
    uint32_t delivered;
    uint32_t delivered_ce;
    uint32_t lost;
    uint32_t app_limited;   /* count of deliveries that ends an application-limited phase, or 0 */
    uint64_t delivered_at;  /* when `delivered` last grew */
    uint64_t first_sent_at; /* start of the sending phase of the next rate sample */
    uint64_t srtt;          /* 0 before the first sample */
    uint64_t mdev;
    uint64_t rttvar;
    uint64_t min_rtt; /* SOJOURN_NEVER before the first sample */
    uint64_t rto;
    uint64_t last_sent_at;
    uint64_t departs_at;   /* when pacing lets the next packet go */
    uint64_t echo;         /* timestamp that the latest ACK echoes */
    uint64_t peer_sent_at; /* timestamp of the latest ACK */
    uint32_t ce;           /* the last three and `next`, expected in order, are of SOJOURN_STEP_ARRIVAL */
    uint32_t ack_held;     /* an ACK is being held back */
    uint32_t echoes;       /* ACKs carry ECN echo */
    uint32_t esce;         /* SCE echo, of SOJOURN_STEP_MEASURED */
};

/* A decision; `decide` gets it with every field 0 but the size. */
struct sojourn_decision {
    uint32_t size;
    uint32_t cwnd;          /* at least 1 */
    uint32_t ssthresh;      /* at least 1 */
    uint32_t burst;         /* segments to send back to back; 0 leaves it to the sender */
    uint64_t pacing_rate;   /* 0 leaves pacing to the sender */
    uint32_t owns_recovery; /* the control sets the window in recovery, not the sender's PRR */
    uint32_t reduces; /* of one with `on_step`: begin a reduction as for an ECN echo */
    uint32_t send_windows; /* windows of data in a send buffer of no given size; 0: the sender's 2 */
    /* Of one with `on_step`: a second instance serves the receiver of a flow with classic ECN. It is
     * called for steps of SOJOURN_STEP_ARRIVAL alone, and the next three are its answer. */
    uint32_t follows_arrivals;
    uint32_t echoes;    /* ACKs carry ECN echo from now on */
    uint32_t ack_first; /* the ACK that is held back goes out first, as it would have */
    uint32_t ack_now;   /* this segment is acknowledged at once */
};

/* A parameter: a number. */
struct sojourn_param {
    const char *name;
    const char *description;
    double value; /* default */
    double least;
    double most;
    uint32_t whole; /* whether it must be a whole number */
};

/* How `observe` tells a name and a value. */
typedef void (*sojourn_tell)(void *out, const char *name, double value);

/* ECN feedback that a control may need; flows that do not say theirs then have it. */
enum sojourn_ecn {
    SOJOURN_ECN_OFF = 0,
    SOJOURN_ECN_CLASSIC = 1,  /* RFC 3168 */
    SOJOURN_ECN_ACCURATE = 2, /* AccECN, RFC 9768 */
    SOJOURN_ECN_DCTCP = 3,    /* RFC 8257 */
    SOJOURN_ECN_DCTCP_SCE = 4,
    SOJOURN_ECN_SCE = 5,
    SOJOURN_ECN_L4S = 6       /* RFC 9331 */
};

/* A description of a control. Callbacks up to `decide` are required, the others may be null. */
struct sojourn_control {
    uint32_t abi;  /* SOJOURN_CCA_ABI */
    uint32_t size; /* sizeof(struct sojourn_control) */
    uint32_t param_count;
    uint32_t ecn;  /* enum sojourn_ecn: the feedback that the control needs, 0 for none */
    const struct sojourn_param *params;
    /* `params` are the values in the order of the description; null refuses. */
    void *(*create)(const struct sojourn_init *init, const double *params);
    void (*destroy)(void *self);
    void (*on_ack)(void *self, uint64_t now, const struct sojourn_ack *ack);
    void (*on_congestion)(void *self, uint64_t now, const struct sojourn_event *event);
    void (*decide)(const void *self, struct sojourn_decision *decision);
    void (*on_established)(void *self, uint64_t now, uint64_t rtt);
    void (*on_sent)(void *self, uint64_t now, const struct sojourn_sent *sent);
    void (*on_packet_lost)(void *self, uint64_t now, const struct sojourn_lost *lost);
    uint64_t (*next_timer)(const void *self); /* SOJOURN_NEVER for none */
    void (*on_timer)(void *self, uint64_t now);
    void (*save)(void *self);
    void (*undo)(void *self, uint64_t now);
    void (*observe)(const void *self, void *out, sojourn_tell tell);
    /* The sender's state before each of the others, and at the steps between them. */
    void (*on_step)(void *self, uint64_t now, const struct sojourn_view *view);
};

/* What a library exports. */
const struct sojourn_control *sojourn_cca(void);

#ifdef __cplusplus
}
#endif
#endif
