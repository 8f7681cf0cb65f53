//! The settings of a script: sysctls, parameters of modules, routes and queues of a real kernel.

use std::net::Ipv4Addr;

use ackclock::exchange::{Command, Settings};
use ackclock::transport::EcnMode;

use crate::netlink::{Message, attribute, text};

/// The sysctls of packetdrill's `defaults.sh`.
const DEFAULTS: &[(&str, &str)] = &[
    ("tcp_rmem", "4096 540000 15728640"),
    ("tcp_wmem", "4096 262144 4194304"),
    ("tcp_timestamps", "1"),
    ("tcp_syn_retries", "5"),
    ("tcp_synack_retries", "5"),
    ("tcp_frto", "2"),
    ("tcp_sack", "1"),
    ("tcp_dsack", "1"),
    ("tcp_reordering", "3"),
    ("tcp_congestion_control", "cubic"),
    ("tcp_slow_start_after_idle", "0"),
    ("tcp_early_retrans", "4"),
    ("tcp_recovery", "1"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_ecn", "0"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
    ("tcp_notsent_lowat", "4294967295"),
    ("tcp_fastopen", "459779"),
    ("tcp_syncookies", "1"),
];

// Attributes and metrics of routes (linux/rtnetlink.h).
const RTM_NEWROUTE: u16 = 24;
const RTM_NEWQDISC: u16 = 36;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RT_SCOPE_LINK: u8 = 253;
const RTPROT_STATIC: u8 = 4;
const TCA_KIND: u16 = 1;
const TC_H_ROOT: u32 = u32::MAX;
/// The prefix of the peer's addresses.
const PREFIX: u8 = 9;
/// Metrics of a route by their names in `ip route`.
const METRICS: &[(&str, u16)] = &[
    ("mtu", 2),
    ("window", 3),
    ("ssthresh", 6),
    ("cwnd", 7),
    ("advmss", 8),
    ("reordering", 9),
    ("initcwnd", 11),
    ("rto_min", 13),
    ("initrwnd", 14),
    ("quickack", 15),
];
const CONGCTL: (&str, u16) = ("congctl", 16);

/// A setting of the guest's kernel.
#[derive(Clone, Debug)]
pub enum Setting {
    /// A word of the agent.
    Word(String),
    /// A message of netlink, with its purpose.
    Netlink(&'static str, Message),
    /// The kernel has no such setting.
    Note(String),
}

/// The place of the network in the guest.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// The number of the device.
    pub link: u32,
    /// The address of the guest.
    pub here: Ipv4Addr,
    /// The address of the peer.
    pub there: Ipv4Addr,
}

/// The settings of a script's head that a kernel has too.
pub fn of_head(settings: &Settings) -> Vec<Setting> {
    let default = Settings::default();
    let mut found = Vec::new();
    if settings.cc != default.cc && !settings.is_for_kernels {
        found.push(sysctl("net.ipv4.tcp_congestion_control", settings.cc.name()));
    }
    if settings.ecn != default.ecn {
        let value = match settings.ecn {
            EcnMode::Off | EcnMode::Counts => "0",
            EcnMode::Classic | EcnMode::Dctcp => "1",
            EcnMode::AccEcn => "3",
        };
        found.push(sysctl("net.ipv4.tcp_ecn", value));
    }
    if settings.min_rto != default.min_rto {
        found.push(sysctl("net.ipv4.tcp_rto_min_us", &(settings.min_rto.as_nanos() / 1_000).to_string()));
    }
    found
}

/// The settings of a command.
pub fn of_command(command: &Command, network: Network) -> Vec<Setting> {
    match command {
        Command::Sysctl { name, value } => vec![sysctl(name, value)],
        Command::Defaults => {
            let sysctls = DEFAULTS.iter().map(|(name, value)| sysctl(&format!("net.ipv4.{name}"), value));
            sysctls.chain([qdisc("pfifo", network)]).collect()
        }
        Command::Restore => Vec::new(),
        Command::File { path, value } => {
            let name = path.strip_prefix("/sys/module/").and_then(|path| path.split_once("/parameters/"));
            match name {
                Some((module, parameter)) => vec![Setting::Word(format!("{module}.{parameter}={value}"))],
                None => vec![not_supported(command)],
            }
        }
        Command::Route(words) => route_of(words, network),
        Command::Qdisc { kind, options } if options.is_empty() => vec![qdisc(kind, network)],
        Command::Qdisc { .. } | Command::Other(_) => vec![not_supported(command)],
    }
}

fn not_supported(command: &Command) -> Setting {
    Setting::Note(format!("`{command}` is not supported and never run"))
}

fn sysctl(name: &str, value: &str) -> Setting {
    Setting::Word(format!("sysctl.{name}={value}"))
}

fn qdisc(kind: &str, network: Network) -> Setting {
    // struct tcmsg
    let fixed = [[0; 4], network.link.to_ne_bytes(), [0; 4], TC_H_ROOT.to_ne_bytes(), [0; 4]].concat();
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    let message = Message::new(libc::NETLINK_ROUTE, RTM_NEWQDISC, flags, &fixed).with(TCA_KIND, &text(kind));
    Setting::Netlink("the queue of the device", message)
}

/// The route to the peer, with metrics.
pub fn route(metrics: &[Vec<u8>], network: Network) -> Setting {
    // struct rtmsg: family, prefixes, type of service, table, origin, scope, type, flags.
    let fixed = [
        libc::AF_INET as u8,
        PREFIX,
        0,
        0,
        libc::RT_TABLE_MAIN,
        RTPROT_STATIC,
        RT_SCOPE_LINK,
        libc::RTN_UNICAST,
        0,
        0,
        0,
        0,
    ];
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    let net = u32::from(network.there) & (u32::MAX << (32 - PREFIX));
    let message = Message::new(libc::NETLINK_ROUTE, RTM_NEWROUTE, flags, &fixed)
        .with(RTA_DST, &net.to_be_bytes())
        .with(RTA_OIF, &network.link.to_ne_bytes())
        .with(RTA_PREFSRC, &network.here.octets())
        .with_nested(RTA_METRICS, metrics);
    Setting::Netlink("the route", message)
}

fn route_of(words: &[String], network: Network) -> Vec<Setting> {
    let (mut metrics, mut found) = (Vec::new(), Vec::new());
    for pair in words.windows(2) {
        let (name, value) = (pair[0].as_str(), pair[1].as_str());
        if name == CONGCTL.0 {
            metrics.push(attribute(CONGCTL.1, &text(value)));
        }
        let Some((_, metric)) = METRICS.iter().find(|(known, _)| *known == name) else { continue };
        match millis(value) {
            Some(number) => metrics.push(attribute(*metric, &number.to_ne_bytes())),
            None => found.push(Setting::Note(format!("{name} {value}: the value is not understood"))),
        }
    }
    found.push(route(&metrics, network));
    found
}

/// A number, or a time in milliseconds.
fn millis(text: &str) -> Option<u32> {
    match text.strip_suffix("ms") {
        Some(millis) => millis.parse().ok(),
        None => match text.strip_suffix('s') {
            Some(seconds) => seconds.parse::<u32>().ok()?.checked_mul(1_000),
            None => text.parse().ok(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock::exchange::commands;

    const NETWORK: Network = Network { link: 5, here: Ipv4Addr::new(10, 0, 0, 1), there: Ipv4Addr::new(10, 128, 0, 1) };

    fn settings(text: &str) -> Vec<String> {
        let of = |command: &Command| of_command(command, NETWORK);
        let show = |setting: Setting| match setting {
            Setting::Word(word) => word,
            Setting::Netlink(purpose, _) => purpose.to_owned(),
            Setting::Note(note) => note,
        };
        commands(text).iter().flat_map(of).map(show).collect()
    }

    #[test]
    fn commands_are_words_messages_and_notes() {
        assert_eq!(settings("sysctl -q net.ipv4.tcp_sack=0"), ["sysctl.net.ipv4.tcp_sack=0"]);
        let path = "/sys/module/tcp_cubic/parameters/hystart_detect";
        assert_eq!(settings(&format!("echo 2 > {path}")), ["tcp_cubic.hystart_detect=2"]);
        assert_eq!(settings("tc qdisc replace dev tun0 root fq"), ["the queue of the device"]);
        assert_eq!(settings("rm x"), ["`rm x` is not supported and never run"]);
        let defaults = settings("../common/defaults.sh");
        assert!(defaults.contains(&"sysctl.net.ipv4.tcp_congestion_control=cubic".to_owned()));
        let route = settings("ip route change 192.0.2.0/24 dev tun0 initcwnd 3 rto_min 1x");
        assert_eq!(route, ["rto_min 1x: the value is not understood", "the route"]);
    }
}
