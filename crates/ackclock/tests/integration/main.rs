//! Whole runs, scenarios and contracts: one program, so that the crate is linked once.

mod capacity;
mod careful_resume;
mod changes;
mod channel;
mod circles;
#[path = "../common/mod.rs"]
mod common;
mod contract;
mod contract_broken;
mod contract_stubs;
mod delay_based;
mod delays;
mod ecn;
mod exchange;
mod impairments;
mod lookahead;
mod media;
mod metamorphic;
mod meters;
mod network;
mod paths;
mod queue_changes;
mod queues;
mod quic;
mod receiver_window;
mod replicates;
mod rule_text;
mod scenario;
mod scenario_mistakes;
mod scenario_mutations;
mod stepping;
mod texts;
mod tidy;
mod traces;
mod traffic;
mod window;
