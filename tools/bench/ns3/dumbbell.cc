// A dumbbell of long TCP flows in ns-3, measured the way the other backends of `speed.py` are.
//
//   dumbbell --flows=10 --rate=100000000 ... prints one line of KEY=VALUE.
//
// Rates are in bits per second, times in seconds, sizes in bytes, queues in packets. `access_rate` 0
// omits the access links: the applications run on the two routers, the best case for speed. Otherwise
// flows share at most `hosts` pairs of hosts. Without RED, only the device has a queue, without traffic
// control above it. Thresholds of RED are in packets. TCP is Linux' Reno with SACK, without timestamps
// and delayed ACKs.

#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

struct Parameters {
    uint32_t flows = 10;
    double duration = 1;
    double rate = 1e8;
    double delay = 0.02;
    std::string queue = "DropTail";
    uint32_t limit = 100;
    double redMin = 5;
    double redMax = 15;
    double redMaxP = 0.1;
    double redWeight = 0.002;
    uint32_t hosts = 32;
    double accessRate = 0;
    double accessDelay = 0;
    double startMax = 1;
    uint32_t payload = 1460;
    uint32_t initialWindow = 2;
    double minRto = 0.2;
    uint32_t seed = 1;
};

// Bounds of the buffers of senders and receivers. ns-3.37 fails with windows of 10 MB.
const double LEAST_BUFFER = 131'072;
const double LARGEST_BUFFER = 3'000'000;
const uint32_t ACCESS_LIMIT = 10'000;
const uint16_t PORT = 9;

double UserSeconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + 1e-6 * usage.ru_utime.tv_usec;
}

// Eight times a flow's share of path and queue: applications fill all of it at once.
uint32_t BufferBytes(const Parameters& p) {
    const double path = p.rate / 8 * 2 * (p.delay + 2 * p.accessDelay) + p.limit * (p.payload + 40.0);
    return static_cast<uint32_t>(std::clamp(8 * path / p.flows, LEAST_BUFFER, LARGEST_BUFFER));
}

std::string Packets(double number) {
    return std::to_string(static_cast<uint32_t>(number)) + "p";
}

void SetDefaults(const Parameters& p) {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(p.minRto)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(p.payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(p.initialWindow));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BufferBytes(p)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BufferBytes(p)));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", StringValue(Packets(p.limit)));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(p.payload + 40));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(p.redMin));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(p.redMax));
    Config::SetDefault("ns3::RedQueueDisc::LInterm", DoubleValue(1 / p.redMaxP));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(p.redWeight));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(false));
}

// With `flowControl` a full queue holds back the discipline above it; without, it drops.
NetDeviceContainer Connect(Ptr<Node> from, Ptr<Node> to, double rate, double delay, uint32_t limit,
                           bool flowControl = false) {
    PointToPointHelper link;
    if (!flowControl) {
        link.DisableFlowControl();
    }
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(Packets(limit)));
    return link.Install(from, to);
}

Ptr<Queue<Packet>> QueueOf(Ptr<NetDevice> device) {
    return DynamicCast<PointToPointNetDevice>(device)->GetQueue();
}

Ipv4InterfaceContainer Number(Ipv4AddressHelper& addresses, const NetDeviceContainer& devices) {
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    return interfaces;
}

}  // namespace

int main(int argc, char* argv[]) {
    Parameters p;
    CommandLine line(__FILE__);
    line.AddValue("flows", "TCP flows", p.flows);
    line.AddValue("duration", "end of the run", p.duration);
    line.AddValue("rate", "of the bottleneck", p.rate);
    line.AddValue("delay", "of the bottleneck, one way", p.delay);
    line.AddValue("queue", "DropTail or RED", p.queue);
    line.AddValue("limit", "of the queue", p.limit);
    line.AddValue("red_min", "lower threshold", p.redMin);
    line.AddValue("red_max", "upper threshold", p.redMax);
    line.AddValue("red_max_p", "probability of a drop at the upper threshold", p.redMaxP);
    line.AddValue("red_weight", "of the newest arrival in the average", p.redWeight);
    line.AddValue("hosts", "pairs of hosts at most", p.hosts);
    line.AddValue("access_rate", "of each access link, 0 for none", p.accessRate);
    line.AddValue("access_delay", "of each access link, one way", p.accessDelay);
    line.AddValue("start_max", "upper bound of the uniform start times", p.startMax);
    line.AddValue("payload", "of a full segment", p.payload);
    line.AddValue("initial_window", "in segments", p.initialWindow);
    line.AddValue("min_rto", "lower bound of the retransmission timeout", p.minRto);
    line.AddValue("seed", "of all random numbers", p.seed);
    line.Parse(argc, argv);
    RngSeedManager::SetSeed(p.seed);
    SetDefaults(p);

    const uint32_t pairs = p.accessRate > 0 ? std::min(p.hosts, p.flows) : 0;
    NodeContainer routers(2);
    NodeContainer sources(pairs);
    NodeContainer destinations(pairs);
    InternetStackHelper stack;
    stack.Install(routers);
    stack.Install(sources);
    stack.Install(destinations);

    const bool isRed = p.queue == "RED";
    NetDeviceContainer bottleneck =
        Connect(routers.Get(0), routers.Get(1), p.rate, p.delay, isRed ? 1 : p.limit, isRed);
    QueueOf(bottleneck.Get(1))->SetMaxSize(QueueSize(Packets(ACCESS_LIMIT)));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Ipv4InterfaceContainer ends = Number(addresses, bottleneck);
    Ptr<QueueDisc> red;
    if (isRed) {
        // An address brings a queue discipline along where the device holds back.
        TrafficControlHelper discipline;
        discipline.Uninstall(bottleneck);
        discipline.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth",
                                    DataRateValue(DataRate(static_cast<uint64_t>(p.rate))), "LinkDelay",
                                    TimeValue(Seconds(p.delay)));
        red = discipline.Install(bottleneck.Get(0)).Get(0);
    }
    std::vector<Ipv4Address> receivers;
    for (uint32_t pair = 0; pair < pairs; ++pair) {
        Number(addresses,
               Connect(sources.Get(pair), routers.Get(0), p.accessRate, p.accessDelay, ACCESS_LIMIT));
        NetDeviceContainer last =
            Connect(routers.Get(1), destinations.Get(pair), p.accessRate, p.accessDelay, ACCESS_LIMIT);
        Ipv4InterfaceContainer far = Number(addresses, last);
        receivers.push_back(far.GetAddress(1));
    }
    if (pairs > 0) {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    } else {
        receivers.push_back(ends.GetAddress(1));
    }

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(pairs > 0 ? destinations : NodeContainer(routers.Get(1)));
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t flow = 0; flow < p.flows; ++flow) {
        const uint32_t way = flow % receivers.size();
        BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(receivers[way], PORT));
        sender.SetAttribute("SendSize", UintegerValue(p.payload));
        Ptr<Node> source = pairs > 0 ? sources.Get(way) : routers.Get(0);
        sender.Install(source).Start(Seconds(start->GetValue(0, p.startMax)));
    }

    const double before = UserSeconds();
    Simulator::Stop(Seconds(p.duration));
    Simulator::Run();
    const double after = UserSeconds();

    Ptr<Queue<Packet>> queue = QueueOf(bottleneck.Get(0));
    const uint64_t departures = queue->GetTotalReceivedPackets() - queue->GetNPackets();
    const uint64_t drops = isRed ? red->GetStats().nTotalDroppedPackets : queue->GetTotalDroppedPackets();
    std::cout << "departures=" << departures << " drops=" << drops << " events=" << Simulator::GetEventCount()
              << " setup_cpu_s=" << before << " run_cpu_s=" << after - before << std::endl;
    Simulator::Destroy();
}
