// Long TCP flows behind a queue discipline of ns-3.
//
//   behind_tcp QUEUE_DISC TCP RATE_BPS DELAY_NS WARMUP_NS END_NS [ATTRIBUTE=VALUE...]
//
// QUEUE_DISC is a queue discipline of ns-3, such as ns3::CoDelQueueDisc. TCP is Reno by RFC 5681 (see below) or a congestion
// control of ns-3, such as ns3::TcpLinuxReno. An ATTRIBUTE of ns-3 contains its type, and VALUE replaces its default.
// Standard input contains one flow per line: its start, and the one-way delay between its host and the bottleneck, in
// ns. Receivers are at the far end of the bottleneck.
//
// Prints one line of KEY=VALUE about [WARMUP_NS, END_NS): payload received in order, dropped packets, packets
// that left the queue, the mean and the 95th percentile of their sojourn times, and the mean of the windows over time.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

const uint32_t SEGMENT = 1460;
const uint32_t PACKET = SEGMENT + 40;
// The point-to-point protocol adds two bytes, and a higher rate compensates for them.
const uint32_t FRAME = PACKET + 2;
const uint32_t BUFFER = 3000000;
const uint16_t PORT = 9;

struct Flow
{
    int64_t start_ns;
    int64_t delay_ns;
};

int64_t g_warmup_ns = 0;
uint64_t g_received = 0;
uint64_t g_drops = 0;
std::vector<int64_t> g_sojourns;
bool g_counted = false;

// The window of a sender, and its integral over the measured time, in bytes and nanoseconds.
struct Window
{
    double cwnd = 0;
    double integral = 0;
    int64_t since_ns = 0;

    void Advance()
    {
        const int64_t now_ns = Simulator::Now().GetNanoSeconds();
        integral += cwnd * std::max<int64_t>(0, now_ns - std::max(since_ns, g_warmup_ns));
        since_ns = now_ns;
    }
};

std::deque<Window> g_windows;

void
WindowChanged(Window* window, uint32_t, uint32_t cwnd)
{
    window->Advance();
    window->cwnd = cwnd;
}

// The socket of a sender exists after its application has started.
void
WatchWindow(Ptr<BulkSendApplication> sender)
{
    Window* window = &g_windows.emplace_back();
    sender->GetSocket()->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&WindowChanged, window));
}

/// Reno by RFC 5681, section 3.1.
class Reno : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Reno").SetParent<TcpNewReno>().AddConstructor<Reno>();
        return id;
    }

    void CongestionStateSet(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCongState_t state) override
    {
        m_recovered = tcb->m_congState == TcpSocketState::CA_RECOVERY && state == TcpSocketState::CA_OPEN;
    }

    // The window grows once per ACK, and not for the ACK that ends a recovery. ns-3 counts all its segments.
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segments) override
    {
        if (!std::exchange(m_recovered, false))
        {
            TcpNewReno::IncreaseWindow(tcb, std::min(segments, 1U));
        }
    }

    // The data in flight before the loss was detected. ns-3 excludes selectively acknowledged data.
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t) override
    {
        return std::max(2 * tcb->m_segmentSize, tcb->m_cWnd.Get() / 2);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Reno>(this);
    }

  private:
    bool m_recovered = false;
};

NS_OBJECT_ENSURE_REGISTERED(Reno);

bool
Measures()
{
    return Simulator::Now().GetNanoSeconds() >= g_warmup_ns;
}

void
Received(Ptr<const Packet> packet, const Address&)
{
    g_received += Measures() ? packet->GetSize() : 0;
}

// A discipline that drops a packet at the head reports a departure first, and then the drop.
void
Dequeued(Ptr<const QueueDiscItem> item)
{
    g_counted = Measures();
    if (g_counted)
    {
        g_sojourns.push_back((Simulator::Now() - item->GetTimeStamp()).GetNanoSeconds());
    }
}

void
DroppedAtTheHead(Ptr<const QueueDiscItem>, const char*)
{
    if (g_counted)
    {
        g_sojourns.pop_back();
    }
}

void
Dropped(Ptr<const QueueDiscItem>)
{
    g_drops += Measures();
}

// A device of ns-3 accepts another packet while it sends one, which is a second, unmanaged queue. This one does not.
void
HoldNothing(Ptr<NetDevice> device)
{
    Ptr<NetDeviceQueue> gate = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
    device->TraceConnectWithoutContext("PhyTxBegin", Callback<void, Ptr<const Packet>>([gate](Ptr<const Packet>) {
                                           gate->Stop();
                                       }));
    device->TraceConnectWithoutContext("PhyTxEnd", Callback<void, Ptr<const Packet>>([gate](Ptr<const Packet>) {
                                           gate->Wake();
                                       }));
}

void
SetDefaults(const std::string& tcp)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(tcp)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
    // ns-3 drops nothing from a queue below this size, Linux and RFC 8289 from a queue up to the MTU.
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(PACKET + 1));
}

NetDeviceContainer
Connect(Ptr<Node> from, Ptr<Node> to, uint64_t rate_bps, int64_t delay_ns, bool managed)
{
    PointToPointHelper link;
    if (!managed)
    {
        link.DisableFlowControl();
    }
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate_bps)));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay_ns)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    return link.Install(from, to);
}

void
Print(double seconds)
{
    const std::size_t count = g_sojourns.size();
    const double total = std::accumulate(g_sojourns.begin(), g_sojourns.end(), 0.0);
    const std::size_t rank = (95 * count + 99) / 100 - 1;
    std::nth_element(g_sojourns.begin(), g_sojourns.begin() + rank, g_sojourns.end());
    std::cout << "goodput_bps=" << 8 * g_received / seconds << " drops=" << g_drops << " forwarded=" << count
              << " sojourn_mean_s=" << total / count / 1e9 << " sojourn_p95_s=" << g_sojourns[rank] / 1e9;
    double integral = 0;
    for (Window& window : g_windows)
    {
        window.Advance();
        integral += window.integral;
    }
    std::cout << " cwnd_mean_segments=" << integral / g_windows.size() / (1e9 * seconds) / SEGMENT << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 7)
    {
        std::cerr << "usage: behind_tcp QUEUE_DISC TCP RATE_BPS DELAY_NS WARMUP_NS END_NS [ATTRIBUTE=VALUE...] < FLOWS\n";
        return 2;
    }
    const uint64_t rate_bps = std::strtoull(argv[3], nullptr, 10) * FRAME / PACKET;
    const int64_t delay_ns = std::atoll(argv[4]);
    g_warmup_ns = std::atoll(argv[5]);
    const int64_t end_ns = std::atoll(argv[6]);
    SetDefaults(argv[2]);
    for (int index = 7; index < argc; ++index)
    {
        const std::string pair = argv[index];
        const std::size_t end = pair.find('=');
        Config::SetDefault(pair.substr(0, end), StringValue(pair.substr(end + 1)));
    }

    NodeContainer routers(2);
    InternetStackHelper stack;
    stack.Install(routers);
    NetDeviceContainer bottleneck = Connect(routers.Get(0), routers.Get(1), rate_bps, delay_ns, true);
    HoldNothing(bottleneck.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    const Ipv4Address receiver = addresses.Assign(bottleneck).GetAddress(1);
    TrafficControlHelper control;
    control.Uninstall(bottleneck);
    control.SetRootQueueDisc(argv[1]);
    Ptr<QueueDisc> queue = control.Install(bottleneck.Get(0)).Get(0);
    queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Dequeued));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&DroppedAtTheHead));

    const InetSocketAddress listening(Ipv4Address::GetAny(), PORT);
    ApplicationContainer sink = PacketSinkHelper("ns3::TcpSocketFactory", listening).Install(routers.Get(1));
    sink.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(receiver, PORT));
    sender.SetAttribute("SendSize", UintegerValue(SEGMENT));
    Flow flow;
    while (std::cin >> flow.start_ns >> flow.delay_ns)
    {
        Ptr<Node> host = CreateObject<Node>();
        stack.Install(host);
        addresses.NewNetwork();
        addresses.Assign(Connect(host, routers.Get(0), 100000000000, flow.delay_ns, false));
        ApplicationContainer application = sender.Install(host);
        application.Start(NanoSeconds(flow.start_ns));
        // This follows the event that starts the flow, which is numbered at the start of the simulation.
        Simulator::Schedule(NanoSeconds(flow.start_ns + 1), &WatchWindow, DynamicCast<BulkSendApplication>(application.Get(0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(NanoSeconds(end_ns));
    Simulator::Run();
    Print((end_ns - g_warmup_ns) / 1e9);
    Simulator::Destroy();
}
