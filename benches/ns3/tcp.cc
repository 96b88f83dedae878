// TCP flows of one scenario of experiments/ns3 over one bottleneck, in ns-3.
//
// Each sender has an access link with the propagation delay; the bottleneck has the queue discipline,
// below it a device with one packet waiting and one being sent. Prints a line per flow (its goodput in
// bit/s, its RTT in seconds, averaged over time) and one with the packets that the queue dropped.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <list>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;

/// The mean of an RTT over time, each sample holding until the next.
struct MeanRtt
{
    double last = 0;
    double since = 0;
    double sum = 0;
    double span = 0;

    void Add(Time, Time sample)
    {
        Close();
        last = sample.GetSeconds();
    }

    void Close()
    {
        const double now = Simulator::Now().GetSeconds();
        if (last > 0)
        {
            sum += last * (now - since);
            span += now - since;
        }
        since = now;
    }
};

std::vector<std::string>
Split(const std::string& text)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
    {
        parts.push_back(part);
    }
    return parts;
}

void
SetDefaults(const std::string& buffer)
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(std::stoul(buffer)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(std::stoul(buffer)));
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

/// `kind` with its attributes, such as "Red:MinTh=30:MaxTh=90".
Ptr<QueueDisc>
AddDiscipline(Ptr<NetDevice> device, const std::string& described)
{
    std::stringstream stream(described);
    std::string kind;
    std::getline(stream, kind, ':');
    ObjectFactory factory("ns3::" + kind + "QueueDisc");
    for (std::string entry; std::getline(stream, entry, ':');)
    {
        const auto equals = entry.find('=');
        factory.Set(entry.substr(0, equals), StringValue(entry.substr(equals + 1)));
    }
    auto discipline = factory.Create<QueueDisc>();
    device->GetNode()->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, discipline);
    return discipline;
}

void
Follow(uint32_t node, MeanRtt* mean)
{
    std::ostringstream path;
    path << "/NodeList/" << node << "/$ns3::TcpL4Protocol/SocketList/0/RTT";
    Config::ConnectWithoutContext(path.str(), MakeCallback(&MeanRtt::Add, mean));
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string controls = "TcpCubic";
    std::string rtts = "0.04";
    std::string starts = "0";
    std::string rate = "20Mbps";
    std::string discipline = "Fifo:MaxSize=70p";
    std::string buffer = "4000000";
    std::string lost;
    double seconds = 60;
    CommandLine command(__FILE__);
    command.AddValue("controls", "ns-3's name of each flow's control", controls);
    command.AddValue("rtts", "round-trip propagation delay of each flow in seconds", rtts);
    command.AddValue("starts", "when each flow starts, in seconds", starts);
    command.AddValue("rate", "rate of the bottleneck", rate);
    command.AddValue("discipline", "queue discipline and its attributes", discipline);
    command.AddValue("buffer", "bytes of send and receive buffers", buffer);
    command.AddValue("lost", "numbers of the packets lost behind the bottleneck", lost);
    command.AddValue("seconds", "simulated time", seconds);
    command.Parse(argc, argv);
    SetDefaults(buffer);

    const auto names = Split(controls);
    const auto delays = Split(rtts);
    const auto begins = Split(starts);
    NodeContainer senders(names.size());
    NodeContainer ends(2); // router, receiver
    InternetStackHelper stack;
    stack.Install(senders);
    stack.Install(ends);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto shared = Connect(ends.Get(0), ends.Get(1), rate, Time(0), 1);
    auto queue = AddDiscipline(shared.Get(0), discipline);
    auto receiver = addresses.Assign(shared).GetAddress(1);
    addresses.NewNetwork();
    if (!lost.empty())
    {
        std::list<uint32_t> numbers;
        for (const auto& number : Split(lost))
        {
            numbers.push_back(std::stoul(number));
        }
        auto errors = CreateObject<ReceiveListErrorModel>();
        errors->SetList(numbers);
        shared.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    std::vector<MeanRtt> means(names.size());
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t flow = 0; flow < names.size(); ++flow)
    {
        auto sender = senders.Get(flow);
        sender->GetObject<TcpL4Protocol>()->SetAttribute(
            "SocketType",
            TypeIdValue(TypeId::LookupByName("ns3::" + names[flow])));
        const auto delay = Seconds(std::stod(delays[flow]) / 2);
        auto access = Connect(sender, ends.Get(0), "1Gbps", delay, 1000000);
        addresses.Assign(access);
        TrafficControlHelper().Uninstall(access);
        addresses.NewNetwork();
        const InetSocketAddress to(receiver, 5000 + flow);
        auto sink = PacketSinkHelper("ns3::TcpSocketFactory", to).Install(ends.Get(1));
        sinks.push_back(DynamicCast<PacketSink>(sink.Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", to);
        bulk.SetAttribute("SendSize", UintegerValue(kMss));
        const auto start = Seconds(std::stod(begins[flow]));
        bulk.Install(sender).Start(start);
        Simulator::Schedule(start + NanoSeconds(1), &Follow, sender->GetId(), &means[flow]);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    for (uint32_t flow = 0; flow < names.size(); ++flow)
    {
        means[flow].Close();
        const double active = seconds - std::stod(begins[flow]);
        std::cout << "flow " << 8.0 * sinks[flow]->GetTotalRx() / active << " "
                  << means[flow].sum / means[flow].span << std::endl;
    }
    std::cout << "drops " << queue->GetStats().nTotalDroppedPackets << std::endl;
    Simulator::Destroy();
    return 0;
}
