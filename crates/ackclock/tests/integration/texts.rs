//! Scenarios that several tests read, as text.
#![allow(dead_code)]

pub const TWO_FLOWS: &str = r#"
schema = 1
name = "two-flows"
duration = "100 s"
warmup = "5 s"                       # left out of every metric

[topology]                           # sugar: `ackclock check` prints the named links it expands to, and each flow's base RTT
kind = "dumbbell"
rate = "5 Mbit/s"
delay = "30 ms"                      # one way
queue = { kind = "drop-tail", limit = "100 packets" }       # or "64 kB", "0.5 BDP" (rate x mean base RTT, whole packets, at least 1)
# loss = { kind = "bernoulli", probability = 1e-3 }          # data direction
access = { rate = "100 Mbit/s", delay = "1 ms" }             # each access link, each way; takes queue and loss too

[[flows]]
name = "test"
count = 2
cc = { kind = "aimd", increase = 1, remaining = 0.5 }        # or cc = "new-aimd", short for { kind = "new-aimd" }
recovery = "sack"
traffic = "bulk"
start = { uniform = ["0 s", "1 s"] }                         # or "0 s"
"#;

pub const TWO_LINKS: &str = r#"
schema = 1
duration = "10 s"
[links.a]
rate = "10 Mbit/s"
delay = "10 ms"
reverse = { rate = "1 Mbit/s", delay = "20 ms" }
[links.b]
rate = "5 Mbit/s"
delay = "5 ms"
loss = { kind = "bernoulli", probability = 0.01 }
[links.idle]
delay = "1 ms"
[[flows]]
cc = "new-aimd"
path = ["a", "b"]
[[flows]]
cc = "aimd"
path = ["b"]
rtt = "30 ms"
send_jitter = "1 packet"
"#;
