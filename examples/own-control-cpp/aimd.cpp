// Additive increase, multiplicative decrease: the law of ../own-control-c/aimd.c as a class.
#include <algorithm>
#include <new>

#include "sojourn_cca.h"

namespace {

class Aimd {
public:
    explicit Aimd(const sojourn_init &init) : cwnd_(init.initial_window) {}

    void on_ack(const sojourn_ack &ack)
    {
        if (!ack.may_grow || !ack.cwnd_limited)
            return;
        if (cwnd_ < ssthresh_) {
            cwnd_ += ack.acked;
            return;
        }
        credit_ += ack.acked;
        if (credit_ >= cwnd_) {
            credit_ -= cwnd_;
            cwnd_++;
        }
    }

    void on_congestion(const sojourn_event &event)
    {
        const bool loss = event.kind == SOJOURN_EVENT_LOSS || event.kind == SOJOURN_EVENT_ECN;
        if (loss || event.reduce) {
            ssthresh_ = std::max(cwnd_ / 2, 2u);
            credit_ = 0;
        }
        if (event.cwnd)
            cwnd_ = event.cwnd;
        if (event.ssthresh)
            ssthresh_ = event.ssthresh;
    }

    void decide(sojourn_decision &decision) const
    {
        decision.cwnd = cwnd_;
        decision.ssthresh = ssthresh_;
    }

private:
    uint32_t cwnd_;
    uint32_t ssthresh_ = SOJOURN_INFINITE_SSTHRESH;
    uint32_t credit_ = 0;
};

sojourn_control description()
{
    sojourn_control control = {};
    control.abi = SOJOURN_CCA_ABI;
    control.size = sizeof control;
    control.create = [](const sojourn_init *init, const double *) -> void * {
        return new (std::nothrow) Aimd(*init);
    };
    control.destroy = [](void *self) { delete static_cast<Aimd *>(self); };
    control.on_ack = [](void *self, uint64_t, const sojourn_ack *ack) {
        static_cast<Aimd *>(self)->on_ack(*ack);
    };
    control.on_congestion = [](void *self, uint64_t, const sojourn_event *event) {
        static_cast<Aimd *>(self)->on_congestion(*event);
    };
    control.decide = [](const void *self, sojourn_decision *decision) {
        static_cast<const Aimd *>(self)->decide(*decision);
    };
    return control;
}

}  // namespace

extern "C" const sojourn_control *sojourn_cca(void)
{
    static const sojourn_control control = description();
    return &control;
}
