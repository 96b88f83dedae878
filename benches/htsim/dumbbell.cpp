// Greedy flows over one bottleneck, as experiments/speed has them, in htsim.
//
// Its TcpSrc is NewReno (RFC 6582) with an ACK per packet: no SACK, no delayed ACKs, no control but
// that one, a timer that is looked at every 10 ms, and no receive window. Packets are as large as
// ours on the wire, and one queue drops at its tail. Prints the data packets that arrived in order.
//
//     dumbbell FLOWS BITS_PER_SECOND LIMIT_IN_PACKETS RTT_IN_MS SECONDS

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

namespace
{

constexpr int kPacket = 1500;

struct Flow
{
    TcpSrc source;
    TcpSink sink;
    Route out;
    Route back;

    Flow(EventList& events, Queue& bottleneck, Pipe& there, Pipe& here) : source(nullptr, nullptr, events)
    {
        source.set_ssthresh(UINT32_MAX);
        out.push_back(&bottleneck);
        out.push_back(&there);
        out.push_back(&sink);
        back.push_back(&here);
        back.push_back(&source);
        source.connect(out, back, sink, 0);
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        return EXIT_FAILURE;
    }
    const int count = std::atoi(argv[1]);
    const linkspeed_bps rate = std::strtoull(argv[2], nullptr, 10);
    const mem_b limit = std::atoll(argv[3]) * kPacket;
    const simtime_picosec oneWay = timeFromMs(std::atof(argv[4]) / 2);

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(std::atof(argv[5])));
    Packet::set_packet_size(kPacket);
    Queue bottleneck(rate, limit, events, nullptr);
    Pipe there(oneWay, events);
    Pipe here(oneWay, events);
    TcpRtxTimerScanner timer(timeFromMs(10), events);
    std::vector<std::unique_ptr<Flow>> flows;
    for (int flow = 0; flow < count; ++flow)
    {
        flows.push_back(std::make_unique<Flow>(events, bottleneck, there, here));
        timer.registerTcp(flows.back()->source);
    }

    std::cout.setstate(std::ios::failbit); // It tells of every timeout.
    while (events.doNextEvent())
    {
    }
    std::cout.clear();
    unsigned long long arrived = 0;
    for (const auto& flow : flows)
    {
        arrived += flow->sink._cumulative_ack / kPacket;
    }
    std::cout << arrived << std::endl;
    return EXIT_SUCCESS;
}
