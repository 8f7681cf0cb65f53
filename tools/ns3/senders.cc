// One TCP flow over a bottleneck with a drop-tail queue, in ns-3.
//
//   senders TCP RATE_BPS RTT_NS QUEUE_PACKETS LOSS_PERIOD LOSS_OFFSET WARMUP_NS END_NS [ATTRIBUTE=VALUE...]
//
// TCP is a congestion control of ns-3, such as ns3::TcpLinuxReno. The link loses every LOSS_PERIOD-th data packet, none for 0. An
// ATTRIBUTE of ns-3 contains its type, and VALUE replaces its default.
//
// Prints one line of KEY=VALUE about [WARMUP_NS, END_NS): payload received in order, dropped packets, packets that left
// the queue and their mean sojourn time, and the mean of the window over time.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <limits>
#include <string>
#include <utility>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

namespace {

const uint32_t SEGMENT = 1460;
const uint32_t PACKET = SEGMENT + 40;
// The point-to-point protocol adds two bytes, and a higher rate compensates for them.
const uint32_t FRAME = PACKET + 2;
const uint32_t BUFFER = 30000000;
const uint16_t PORT = 9;

int64_t g_warmup_ns = 0;
uint64_t g_received = 0;
uint64_t g_drops = 0;

bool
Measures()
{
    return Simulator::Now().GetNanoSeconds() >= g_warmup_ns;
}

// The window, and its integral over the measured time, in bytes and nanoseconds.
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

Window g_window;

void
WindowChanged(uint32_t, uint32_t cwnd)
{
    g_window.Advance();
    g_window.cwnd = cwnd;
}

// The socket of a sender exists after its application has started.
void
WatchWindow(Ptr<BulkSendApplication> sender)
{
    sender->GetSocket()->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&WindowChanged));
}

void
Received(Ptr<const Packet> packet, const Address&)
{
    g_received += Measures() ? packet->GetSize() : 0;
}

// Arrival times of queued packets, and sojourn times of departed packets.
struct Sojourns
{
    std::deque<int64_t> arrivals_ns;
    int64_t total_ns = 0;
    uint64_t count = 0;
};

Sojourns g_sojourns;

void
Enqueued(Ptr<const Packet>)
{
    g_sojourns.arrivals_ns.push_back(Simulator::Now().GetNanoSeconds());
}

void
Dequeued(Ptr<const Packet>)
{
    if (Measures())
    {
        g_sojourns.total_ns += Simulator::Now().GetNanoSeconds() - g_sojourns.arrivals_ns.front();
        ++g_sojourns.count;
    }
    g_sojourns.arrivals_ns.pop_front();
}

void
Dropped(Ptr<const Packet>)
{
    g_drops += Measures();
}

/// Loses every n-th data packet. The first loss is earlier by an offset in packets.
class Periodic : public ErrorModel
{
  public:
    Periodic(uint64_t period, uint64_t offset)
        : m_period(period),
          m_offset(offset),
          m_count(offset)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() >= SEGMENT && ++m_count % m_period == 0;
    }

    void DoReset() override
    {
        m_count = m_offset;
    }

    uint64_t m_period;
    uint64_t m_offset;
    uint64_t m_count;
};

/// TcpPrrRecovery by RFC 9937: data delivered by SACK blocks count once. ns-3 adds a segment for each duplicate ACK.
class Prr : public TcpPrrRecovery
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Prr").SetParent<TcpPrrRecovery>().AddConstructor<Prr>();
        return id;
    }

    void DoRecovery(Ptr<TcpSocketState> tcb, uint32_t delivered, bool) override
    {
        TcpPrrRecovery::DoRecovery(tcb, delivered, false);
    }

    Ptr<TcpRecoveryOps> Fork() override
    {
        return CopyObject<Prr>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Prr);

/// A congestion control whose window does not grow on the ACK that ends a recovery (RFC 5681, section 3.2).
template <class Control>
class Recovered : public Control
{
  public:
    void CongestionStateSet(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCongState_t state) override
    {
        m_recovered = tcb->m_congState == TcpSocketState::CA_RECOVERY && state == TcpSocketState::CA_OPEN;
        Control::CongestionStateSet(tcb, state);
    }

    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segments) override
    {
        if (!std::exchange(m_recovered, false))
        {
            Control::IncreaseWindow(tcb, segments);
        }
    }

  private:
    bool m_recovered = false;
};

/// TcpLinuxReno without that growth.
class Reno : public Recovered<TcpLinuxReno>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Reno").SetParent<TcpLinuxReno>().AddConstructor<Reno>();
        return id;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Reno>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Reno);

/// TcpCubic without that growth.
class Cubic : public Recovered<TcpCubic>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Cubic").SetParent<TcpCubic>().AddConstructor<Cubic>();
        return id;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Cubic>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Cubic);

/// TcpBbr with Linux's rules for two measurements. Each rule has a switch.
class Bbr : public TcpBbr
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("Bbr")
                .SetParent<TcpBbr>()
                .AddConstructor<Bbr>()
                .AddAttribute("EachAck",
                              "The interval of a delivery rate ends with the ACK whose data it counts. ns-3 counts them over the interval of an "
                              "earlier ACK, if nothing that this one acknowledges was sent after later deliveries.",
                              BooleanValue(true),
                              MakeBooleanAccessor(&Bbr::m_eachAck),
                              MakeBooleanChecker())
                .AddAttribute("Smaller",
                              "The smallest RTT is as old as its first measurement. In ns-3 an equal one renews it.",
                              BooleanValue(true),
                              MakeBooleanAccessor(&Bbr::m_smaller),
                              MakeBooleanChecker())
                .AddAttribute("WholeSegments",
                              "The flight at which a phase of the gain cycle ends is rounded up to whole segments, and to an even number, as "
                              "in Linux, and a phase of 1.25 counts the segment that is to be sent.",
                              BooleanValue(true),
                              MakeBooleanAccessor(&Bbr::m_wholeSegments),
                              MakeBooleanChecker());
        return id;
    }

    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& sample) override
    {
        TcpRateOps::TcpRateSample rate = sample;
        if (m_eachAck && rate.m_delivered > 0 && rate.m_interval.IsStrictlyPositive())
        {
            rate.m_interval = Max(rate.m_sendElapsed, Simulator::Now() - rate.m_priorTime);
            rate.m_deliveryRate = DataRate(rate.m_delivered * 8.0 / rate.m_interval.GetSeconds());
        }
        if (m_wholeSegments)
        {
            rate.m_priorInFlight = InFlightOf(tcb, rate.m_priorInFlight);
        }
        const Time rtt = tcb->m_lastRtt;
        if (m_smaller && rtt == m_smallest)
        {
            tcb->m_lastRtt = rtt + TimeStep(1);
        }
        TcpBbr::CongControl(tcb, connection, rate);
        tcb->m_lastRtt = rtt;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Bbr>(this);
    }

  private:
    void NotifyConstructionCompleted() override
    {
        TcpBbr::NotifyConstructionCompleted();
        TraceConnectWithoutContext("MinRtt", MakeCallback(&Bbr::MinRttChanged, this));
    }

    // Only the ends of phases depend on the flight before an ACK. A flight of zero or beyond all bounds gives the side of Linux's
    // bound.
    uint32_t InFlightOf(Ptr<TcpSocketState> tcb, uint32_t priorInFlight)
    {
        const double gain = GetPacingGain();
        if (GetBbrState() != BBR_PROBE_BW || gain == 1)
        {
            return priorInFlight;
        }
        const double bandwidth = tcb->m_pacingRate.Get().GetBitRate() / (0.99 * gain) / 8;
        const double product = bandwidth * m_smallest.GetSeconds() / tcb->m_segmentSize;
        const uint32_t segments = std::ceil(std::max(gain, 1.0) * product) + 3;
        const uint32_t even = segments + segments % 2;
        const double before = priorInFlight / double(tcb->m_segmentSize);
        const bool isMore = gain > 1 ? before + 1 >= even + 2 : before > even;
        return isMore ? std::numeric_limits<int32_t>::max() : 0;
    }

    void MinRttChanged(Time, Time smallest)
    {
        m_smallest = smallest;
    }

    bool m_eachAck = true;
    bool m_smaller = true;
    bool m_wholeSegments = true;
    Time m_smallest;
};

NS_OBJECT_ENSURE_REGISTERED(Bbr);

void
SetDefaults(const std::string& tcp)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(tcp)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
}

NetDeviceContainer
Connect(Ptr<Node> from, Ptr<Node> to, uint64_t rate_bps, int64_t delay_ns, uint32_t packets)
{
    PointToPointHelper link;
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate_bps)));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay_ns)));
    NetDeviceContainer devices = link.Install(from, to);
    DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, packets));
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, 10000));
    return devices;
}

void
Print(double seconds)
{
    g_window.Advance();
    std::cout << "goodput_bps=" << 8 * g_received / seconds << " drops=" << g_drops << " forwarded=" << g_sojourns.count
              << " queue_delay_mean_s=" << g_sojourns.total_ns / 1e9 / g_sojourns.count
              << " cwnd_mean_segments=" << g_window.integral / (1e9 * seconds) / SEGMENT << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 9)
    {
        std::cerr << "usage: senders TCP RATE_BPS RTT_NS QUEUE_PACKETS LOSS_PERIOD LOSS_OFFSET WARMUP_NS END_NS [ATTRIBUTE=VALUE...]\n";
        return 2;
    }
    const uint64_t rate_bps = std::strtoull(argv[2], nullptr, 10) * FRAME / PACKET;
    const int64_t delay_ns = std::atoll(argv[3]) / 2;
    const uint32_t packets = std::atoi(argv[4]);
    const uint64_t period = std::strtoull(argv[5], nullptr, 10);
    const uint64_t offset = std::strtoull(argv[6], nullptr, 10);
    g_warmup_ns = std::atoll(argv[7]);
    const int64_t end_ns = std::atoll(argv[8]);
    SetDefaults(argv[1]);
    for (int index = 9; index < argc; ++index)
    {
        const std::string pair = argv[index];
        const std::size_t end = pair.find('=');
        Config::SetDefault(pair.substr(0, end), StringValue(pair.substr(end + 1)));
    }

    NodeContainer nodes(3);
    InternetStackHelper stack;
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    addresses.Assign(Connect(nodes.Get(0), nodes.Get(1), 100000000000, 0, 100000));
    addresses.NewNetwork();
    NetDeviceContainer bottleneck = Connect(nodes.Get(1), nodes.Get(2), rate_bps, delay_ns, packets);
    const Ipv4Address receiver = addresses.Assign(bottleneck).GetAddress(1);
    Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->GetQueue();
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Enqueued));
    queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Dequeued));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    if (period > 0)
    {
        Ptr<ErrorModel> losses = Create<Periodic>(period, offset);
        bottleneck.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
    }

    const InetSocketAddress listening(Ipv4Address::GetAny(), PORT);
    ApplicationContainer sink = PacketSinkHelper("ns3::TcpSocketFactory", listening).Install(nodes.Get(2));
    sink.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(receiver, PORT));
    sender.SetAttribute("SendSize", UintegerValue(SEGMENT));
    Ptr<BulkSendApplication> application = DynamicCast<BulkSendApplication>(sender.Install(nodes.Get(0)).Get(0));
    // This follows the event that starts the flow, which is numbered at the start of the simulation.
    Simulator::Schedule(NanoSeconds(1), &WatchWindow, application);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(NanoSeconds(end_ns));
    Simulator::Run();
    Print((end_ns - g_warmup_ns) / 1e9);
    Simulator::Destroy();
}
