// Greedy Cubic flows over one bottleneck, as experiments/speed has them, in ns-3.
//
// Each sender has an access link with the propagation delay; the bottleneck's device has the only
// queue that fills, a drop-tail of packets. Prints the data packets that arrived.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;

void
SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 27));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 27));
}

NetDeviceContainer
Connect(Ptr<Node> from, Ptr<Node> to, const std::string& rate, Time delay, uint32_t limit)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(PACKETS, limit)));
    return link.Install(from, to);
}

Ipv4InterfaceContainer
AddAddresses(const NetDeviceContainer& devices, Ipv4AddressHelper& addresses)
{
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    addresses.NewNetwork();
    return interfaces;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 1;
    uint32_t limit = 170;
    std::string rate = "100Mbps";
    double rtt = 0.02;
    double seconds = 60;
    CommandLine command(__FILE__);
    command.AddValue("flows", "number of flows", flows);
    command.AddValue("rate", "rate of the bottleneck", rate);
    command.AddValue("limit", "packets that may wait", limit);
    command.AddValue("rtt", "round-trip propagation delay in seconds", rtt);
    command.AddValue("seconds", "simulated time", seconds);
    command.Parse(argc, argv);
    SetDefaults();

    NodeContainer senders(flows);
    NodeContainer ends(2); // router, receiver
    InternetStackHelper stack;
    stack.Install(senders);
    stack.Install(ends);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto shared = Connect(ends.Get(0), ends.Get(1), rate, Time(0), limit);
    auto receiver = AddAddresses(shared, addresses).GetAddress(1);
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        auto access =
            Connect(senders.Get(flow), ends.Get(0), "100Gbps", Seconds(rtt / 2), 1000000);
        AddAddresses(access, addresses);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const InetSocketAddress to(receiver, 5000);
    auto sinks = PacketSinkHelper("ns3::TcpSocketFactory", to).Install(ends.Get(1));
    BulkSendHelper bulk("ns3::TcpSocketFactory", to);
    bulk.SetAttribute("SendSize", UintegerValue(kMss));
    bulk.Install(senders);

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() / kMss << std::endl;
    Simulator::Destroy();
    return 0;
}
