// Stations that send datagrams to an access point over 802.11 without losses, in ns-3.
//
// All stand within a metre, so that everybody hears everybody and nothing is lost to noise. Prints the
// payload that arrived after the first second, in Mbit/s.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <iostream>

using namespace ns3;

namespace
{

uint64_t g_received = 0;

void
Count(Ptr<const Packet> packet, const Address&)
{
    if (Simulator::Now() > Seconds(1))
    {
        g_received += packet->GetSize();
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string standard = "a";
    uint32_t stations = 1;
    uint32_t ampdu = 0;
    double seconds = 3;
    CommandLine cmd;
    cmd.AddValue("standard", "a, n or ac", standard);
    cmd.AddValue("stations", "stations that send", stations);
    cmd.AddValue("ampdu", "largest A-MPDU in bytes", ampdu);
    cmd.AddValue("seconds", "simulated time", seconds);
    cmd.Parse(argc, argv);

    NodeContainer senders(stations);
    NodeContainer ap(1);
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiHelper wifi;
    std::string mode = "OfdmRate54Mbps";
    if (standard == "a")
    {
        wifi.SetStandard(WIFI_STANDARD_80211a);
    }
    else
    {
        const bool n = standard == "n";
        wifi.SetStandard(n ? WIFI_STANDARD_80211n : WIFI_STANDARD_80211ac);
        mode = n ? "HtMcs15" : "VhtMcs9";
        phy.Set("ChannelSettings", StringValue(n ? "{0, 40, BAND_2_4GHZ, 0}" : "{0, 80, BAND_5GHZ, 0}"));
        phy.Set("Antennas", UintegerValue(2));
        phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(2));
        phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(2));
    }
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(mode),
                                 "ControlMode",
                                 StringValue(standard == "n" ? "ErpOfdmRate24Mbps" : "OfdmRate24Mbps"));
    WifiMacHelper mac;
    const Ssid ssid("air");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(ampdu));
    auto devices = wifi.Install(phy, mac, senders);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(ampdu));
    devices.Add(wifi.Install(phy, mac, ap));
    Config::Set("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/HtConfiguration/ShortGuardIntervalSupported",
                BooleanValue(true));
    MobilityHelper mobility;
    mobility.Install(senders);
    mobility.Install(ap);
    InternetStackHelper internet;
    internet.Install(senders);
    internet.Install(ap);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    auto interfaces = addresses.Assign(devices);

    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    auto sinks = sink.Install(ap.Get(0));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Count));
    OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(interfaces.GetAddress(stations), 9));
    source.SetConstantRate(DataRate(standard == "a" ? "40Mbps" : "850Mbps"), 1472);
    auto sources = source.Install(senders);
    sources.Start(MilliSeconds(500));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    Simulator::Destroy();
    std::cout << 8e-6 * g_received / (seconds - 1) << std::endl;
}
