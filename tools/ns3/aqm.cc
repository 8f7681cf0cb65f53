// Sends arrivals through a queue discipline of ns-3 before a transmitter.
//
//   aqm codel RATE_BPS MTU        arrivals on standard input, one per line in order: time in ns, bytes, flow, 1 if
//   aqm tbf RATE_BPS BURST        ECN-capable
//   aqm pie|fq-pie|cobalt|cobalt-blue|fq-cobalt RATE_BPS MTU
//
// Prints one event per line: time in ns, the place of the arrival, "sent", "dropped" or "marked". A departure at the time of an
// arrival comes first. A token bucket has no transmitter behind it.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

/// An item without a header.
class Bare : public QueueDiscItem
{
  public:
    Bare(uint32_t bytes, uint64_t number, uint32_t flow, bool capable)
        : QueueDiscItem(Create<Packet>(bytes), Address(), 0),
          number(number),
          flow(flow),
          capable(capable)
    {
    }

    uint32_t Hash(uint32_t) const override
    {
        return flow;
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        return capable;
    }

    uint64_t number;
    uint32_t flow;
    bool capable;
};

struct Arrival
{
    int64_t at_ns;
    uint32_t bytes;
    uint32_t flow;
    bool capable;
};

std::vector<Arrival> g_arrivals;
Ptr<QueueDisc> g_queue;
uint64_t g_rate_bps;
bool g_shapes = false;
int64_t g_free_at = 0;
// A transmission has begun, and the transmitter has not asked for the next item.
bool g_sends = false;
bool g_last_arrived = false;

void
Note(Ptr<const QueueDiscItem> item, const char* what)
{
    std::cout << Simulator::Now().GetNanoSeconds() << ' ' << DynamicCast<const Bare>(item)->number << ' ' << what
              << '\n';
}

void
Dropped(Ptr<const QueueDiscItem> item)
{
    Note(item, "dropped");
}

void
Marked(Ptr<const QueueDiscItem> item, const char*)
{
    Note(item, "marked");
}

void EndOfTransmission();

void
Serve()
{
    int64_t now = Simulator::Now().GetNanoSeconds();
    if (g_free_at > now)
    {
        return;
    }
    g_sends = false;
    // As a device, the transmitter also asks an empty queue.
    Ptr<QueueDiscItem> item = g_queue->Dequeue();
    if (!item)
    {
        // The timer of PIE never ends.
        if (g_last_arrived)
        {
            Simulator::Stop();
        }
        return;
    }
    Note(item, "sent");
    g_sends = true;
    g_free_at = now + static_cast<int64_t>(8ULL * item->GetSize() * 1000000000ULL / g_rate_bps);
    Simulator::Schedule(NanoSeconds(g_free_at - now), &EndOfTransmission);
}

void
EndOfTransmission()
{
    // An arrival at the same time may have called it.
    if (g_sends)
    {
        Serve();
    }
}

void
Arrive(uint64_t number)
{
    if (!g_shapes)
    {
        EndOfTransmission();
    }
    Ptr<QueueDiscItem> item = Create<Bare>(g_arrivals[number].bytes,
                                             number,
                                             g_arrivals[number].flow,
                                             g_arrivals[number].capable);
    item->SetTimeStamp(Simulator::Now());
    g_last_arrived = number + 1 == g_arrivals.size();
    g_queue->Enqueue(item);
    if (g_shapes)
    {
        g_queue->Run();
    }
    else
    {
        Serve();
    }
    if (number + 1 < g_arrivals.size())
    {
        int64_t gap = g_arrivals[number + 1].at_ns - g_arrivals[number].at_ns;
        Simulator::Schedule(NanoSeconds(gap), &Arrive, number + 1);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 4)
    {
        std::cerr << "usage: aqm QUEUE RATE_BPS MTU|BURST < ARRIVALS\n";
        return 2;
    }
    const std::string kind = argv[1];
    g_rate_bps = std::strtoull(argv[2], nullptr, 10);
    const uint64_t bytes = std::strtoull(argv[3], nullptr, 10);
    Arrival arrival;
    while (std::cin >> arrival.at_ns >> arrival.bytes >> arrival.flow >> arrival.capable)
    {
        g_arrivals.push_back(arrival);
    }
    const QueueSize ample(QueueSizeUnit::PACKETS, 1000000);
    ObjectFactory factory;
    if (kind == "codel")
    {
        factory.SetTypeId("ns3::CoDelQueueDisc");
        // ns-3 drops nothing from a queue below this size, Linux and RFC 8289 from a queue up to the MTU.
        factory.Set("MinBytes", UintegerValue(bytes + 1));
        factory.Set("MaxSize", QueueSizeValue(ample));
    }
    else if (kind == "pie" || kind == "fq-pie")
    {
        factory.SetTypeId(kind == "fq-pie" ? "ns3::FqPieQueueDisc" : "ns3::PieQueueDisc");
        factory.Set("QueueDelayReference", TimeValue(MilliSeconds(15)));
        // ns-3 permits a burst once in 1.5 s at most, and RFC 8033 after each quiet time.
        factory.Set("MaxBurstAllowance", TimeValue(Seconds(0)));
        // The basic algorithm of RFC 8033, appendix A.
        factory.Set("UseCapDropAdjustment", BooleanValue(false));
        factory.Set("UseDerandomization", BooleanValue(false));
        factory.Set("MeanPktSize", UintegerValue(bytes));
        factory.Set("UseEcn", BooleanValue(true));
        factory.Set("MaxSize", QueueSizeValue(ample));
    }
    else if (kind == "cobalt" || kind == "cobalt-blue" || kind == "fq-cobalt")
    {
        factory.SetTypeId(kind == "fq-cobalt" ? "ns3::FqCobaltQueueDisc" : "ns3::CobaltQueueDisc");
        // ns-3.44 keeps the time of BLUE's last step in 32 bits of nanoseconds, so BLUE works for 4.29 s only.
        factory.Set("BlueThreshold", TimeValue(kind == "cobalt-blue" ? MilliSeconds(50) : Seconds(1000000)));
        factory.Set("UseEcn", BooleanValue(true));
        factory.Set("MaxSize", QueueSizeValue(ample));
    }
    else
    {
        g_shapes = true;
        factory.SetTypeId("ns3::TbfQueueDisc");
        factory.Set("Burst", UintegerValue(bytes));
        factory.Set("Mtu", UintegerValue(0));
        factory.Set("Rate", DataRateValue(DataRate(g_rate_bps)));
        factory.Set("MaxSize", QueueSizeValue(ample));
    }
    g_queue = factory.Create<QueueDisc>();
    // Without a device the quantum has no default.
    if (kind == "fq-pie")
    {
        DynamicCast<FqPieQueueDisc>(g_queue)->SetQuantum(bytes);
    }
    if (kind == "fq-cobalt")
    {
        DynamicCast<FqCobaltQueueDisc>(g_queue)->SetQuantum(bytes);
    }
    g_queue->SetQuota(1000000);
    g_queue->SetSendCallback([](Ptr<QueueDiscItem> item) { Note(item, "sent"); });
    g_queue->Initialize();
    g_queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    g_queue->TraceConnectWithoutContext("Mark", MakeCallback(&Marked));
    if (!g_arrivals.empty())
    {
        Simulator::Schedule(NanoSeconds(g_arrivals[0].at_ns), &Arrive, 0);
    }
    Simulator::Run();
    Simulator::Destroy();
}
