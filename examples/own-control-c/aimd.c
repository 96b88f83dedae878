/* Additive increase, multiplicative decrease, in whole numbers and without undo.
 *
 * In slow start every acknowledged segment adds one to the window. Beyond it acknowledged segments
 * are credit, of which a window's worth buys a segment. Congestion sets the threshold to half the
 * window, at least two segments, and takes the credit away.
 */
#include <stdlib.h>

#include "sojourn_cca.h"

struct aimd {
    uint32_t cwnd, ssthresh, credit;
};

static void *create(const struct sojourn_init *init, const double *params)
{
    struct aimd *aimd = malloc(sizeof *aimd);
    (void)params;
    if (aimd)
        *aimd = (struct aimd){init->initial_window, SOJOURN_INFINITE_SSTHRESH, 0};
    return aimd;
}

static void on_ack(void *self, uint64_t now, const struct sojourn_ack *ack)
{
    struct aimd *aimd = self;
    (void)now;
    if (!ack->may_grow || !ack->cwnd_limited)
        return;
    if (aimd->cwnd < aimd->ssthresh) {
        aimd->cwnd += ack->acked;
        return;
    }
    aimd->credit += ack->acked;
    if (aimd->credit >= aimd->cwnd) {
        aimd->credit -= aimd->cwnd;
        aimd->cwnd++;
    }
}

static void cut(struct aimd *aimd)
{
    aimd->ssthresh = aimd->cwnd / 2 > 2 ? aimd->cwnd / 2 : 2;
    aimd->credit = 0;
}

static void on_congestion(void *self, uint64_t now, const struct sojourn_event *event)
{
    struct aimd *aimd = self;
    (void)now;
    switch (event->kind) {
    case SOJOURN_EVENT_LOSS:
    case SOJOURN_EVENT_ECN:
        cut(aimd);
        break;
    case SOJOURN_EVENT_RTO:
        if (event->reduce)
            cut(aimd);
        aimd->cwnd = event->cwnd;
        break;
    case SOJOURN_EVENT_REDUCTION_END:
        aimd->cwnd = event->cwnd;
        break;
    case SOJOURN_EVENT_RESTART:
        aimd->cwnd = event->cwnd;
        aimd->ssthresh = event->ssthresh;
        break;
    }
}

static void decide(const void *self, struct sojourn_decision *decision)
{
    const struct aimd *aimd = self;
    decision->cwnd = aimd->cwnd;
    decision->ssthresh = aimd->ssthresh;
}

static const struct sojourn_control control = {
    .abi = SOJOURN_CCA_ABI,
    .size = sizeof control,
    .create = create,
    .destroy = free,
    .on_ack = on_ack,
    .on_congestion = on_congestion,
    .decide = decide,
};

const struct sojourn_control *sojourn_cca(void)
{
    return &control;
}
