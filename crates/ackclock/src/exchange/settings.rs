//! The configuration of a script: `--name=value` at its head, `setsockopt`, and supported commands of the shell. No
//! command is ever run.

use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value as Json;

use super::shell::{Command, commands};
use crate::cc::{CcSpec, algorithms};
use crate::transport::{EcnMode, LossRecovery, Pacing, Profile, TransportKeys};
use crate::units::Duration;

/// Linux's TCP_DELACK_MIN: how long an ACK is delayed once TCP_QUICKACK is switched off.
const DELAYED_ACK: Duration = Duration::from_millis(40);
/// RFC 6691 with an MTU of 1500: 1500 less 40 bytes of headers.
const MSS: u32 = 1460;
/// The same with the header of IPv6.
const MSS_OF_IPV6: u32 = 1440;
/// RFC 6928.
const INITIAL_WINDOW: f64 = 10.0;
/// The default tolerance of the time of a segment.
const TOLERANCE: Duration = Duration::from_micros(1);
/// packetdrill's: 4 ms, or 12.5 % of the time since the event before.
const TOLERANCE_OF_PACKETDRILL: Duration = Duration::from_millis(4);
const PART_OF_PACKETDRILL: u64 = 8;
/// Linux's for the 15 MB of receive buffer that packetdrill's `defaults.sh` gives.
const WSCALE_OF_DEFAULTS: u32 = 8;
/// Socket options that change nothing that is simulated.
const WITHOUT_EFFECT: &[&str] = &[
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_LINGER",
    "TCP_DEFER_ACCEPT",
    "SO_ERROR",
    "SO_SNDBUF",
    "IP_TOS",
    "IP_MTU_DISCOVER",
];
/// Settings of Linux that a script may give the value which it has here anyway.
const AS_HERE: &[(&str, &str)] = &[
    ("tcp_window_scaling", "1"),
    ("tcp_reordering", "3"),
    ("tcp_fack", "0"),
    ("tcp_fastopen", "0"),
    ("tcp_autocorking", "0"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
];
/// Options of packetdrill itself: addresses, sizes of segments, messages.
const OF_PACKETDRILL: &[&str] = &[
    "mss",
    "mtu",
    "local_ip",
    "remote_ip",
    "gateway_ip",
    "netmask_ip",
    "bind_port",
    "connect_port",
    "send_omit_free",
    "tolerance_percent",
    "non_fatal",
    "verbose",
    "strict_segments",
    "speed",
    "init_scripts",
    "wire_client",
    "wire_server",
    "dry_run",
    "debug",
];
/// How Linux joins segments before they leave, which is nothing that a script can see here.
const OF_BURSTS: &[&str] = &["tcp_min_tso_segs", "tcp_tso_win_divisor", "tcp_tso_rtt_log", "tcp_limit_output_bytes"];

/// The configuration of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The tolerance of the time of a segment, if the script sets it.
    pub tolerance: Option<Duration>,
    /// It was written for a kernel: the tolerance is packetdrill's.
    pub is_for_kernels: bool,
    /// The algorithm.
    pub cc: CcSpec,
    /// The loss recovery. `None` selects SACK if the peer offers it, else NewReno.
    pub recovery: Option<LossRecovery>,
    /// Window to begin with, in segments.
    pub initial_window: f64,
    /// The MSS that is announced.
    pub mss: u32,
    /// The window scale that is announced.
    pub wscale: u32,
    /// Whether SACK is offered and accepted.
    pub sack: bool,
    /// Whether ECN is accepted.
    pub ecn: EcnMode,
    /// The feedback that a SYN requests, if it differs from the accepted one.
    pub ecn_offer: Option<EcnMode>,
    /// Whether segments carry the option of AccECN (`tcp_ecn_option`).
    pub accecn_option: bool,
    /// Whether values of timestamps are compared. packetdrill compares them with a tick only.
    pub has_tick: bool,
    /// Whether timestamps are offered and accepted.
    pub timestamps: bool,
    /// Lower bound of the RTO.
    pub min_rto: Duration,
    /// Longest delay of an ACK.
    pub delayed_ack: Option<Duration>,
    /// The keys of the transport for which a script has no words of its own.
    pub keys: TransportKeys,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tolerance: None,
            is_for_kernels: false,
            cc: CcSpec::by_name("aimd").expect("invariant: aimd is registered"),
            recovery: None,
            initial_window: INITIAL_WINDOW,
            mss: MSS,
            wscale: 7,
            sack: true,
            ecn: EcnMode::Off,
            ecn_offer: None,
            accecn_option: true,
            has_tick: false,
            timestamps: true,
            min_rto: Duration::from_millis(200),
            delayed_ack: None,
            keys: TransportKeys::default(),
        }
    }
}

impl Settings {
    /// Whether values of timestamps are compared, as packetdrill does.
    pub fn compares_timestamps(&self) -> bool {
        !self.is_for_kernels || self.has_tick
    }

    /// The settings of a script under `profile`.
    pub fn under(profile: Profile) -> Self {
        let mut settings = Settings::default();
        settings.profile(profile);
        settings
    }

    /// Applies `profile`. The script's handshake determines the negotiated options.
    fn profile(&mut self, profile: Profile) {
        self.keys.profile = profile;
        for (name, value) in profile.settings() {
            self.set(name, &value).expect("invariant: the values of a profile are right");
        }
        let names: Vec<_> = profile.settings().into_iter().map(|(name, _)| name).collect();
        if names.contains(&"initial_window") {
            self.initial_window = f64::from(self.keys.initial_window);
        }
        if names.contains(&"delayed_ack") {
            self.delayed_ack = self.keys.delayed_ack.longest();
        }
        if profile == Profile::Linux {
            self.is_for_kernels = true;
            self.algorithm("cubic").expect("invariant: cubic is registered");
        }
    }

    /// The tolerance of the time of a segment, `length` after the previous event.
    pub fn tolerance(&self, length: Duration) -> Duration {
        match (self.tolerance, self.is_for_kernels) {
            (given, true) => given.unwrap_or(TOLERANCE_OF_PACKETDRILL).max(length / PART_OF_PACKETDRILL),
            (given, false) => given.unwrap_or(TOLERANCE),
        }
    }

    /// Applies the settings of packetdrill's and the kernel's `defaults.sh`.
    fn defaults(&mut self) {
        self.profile(Profile::Linux);
        self.wscale = WSCALE_OF_DEFAULTS;
        self.keys.idle_restart = false;
        (self.sack, self.timestamps, self.ecn) = (true, true, EcnMode::Off);
    }

    /// A line `--name=value`.
    ///
    /// # Errors
    /// An option that does not exist or a value that it cannot have.
    pub fn option(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = |expected: &str| format!("--{name}={value}: expected {expected}");
        match name {
            "tolerance_usecs" => self.tolerance = Some(micros(value).ok_or_else(|| wrong("microseconds"))?),
            "cc" => self.algorithm(value)?,
            "recovery" => self.recovery = Some(named(value).map_err(|names| wrong(&names))?),
            "delayed_ack_usecs" => {
                self.delayed_ack = Some(micros(value).ok_or_else(|| wrong("microseconds"))?).filter(|d| !d.is_zero());
            }
            "min_rto_usecs" => self.min_rto = micros(value).ok_or_else(|| wrong("microseconds"))?,
            "tcp_ts_tick_usecs" => self.has_tick = value != "0",
            _ if OF_PACKETDRILL.contains(&name) => {}
            "ecn" => self.ecn = named(value).map_err(|names| wrong(&names))?,
            "ip_version" => match value {
                "ipv4" => {}
                "ipv6" | "ipv4-mapped-ipv6" => self.mss = MSS_OF_IPV6,
                _ => return Err(wrong("ipv4, ipv6 or ipv4-mapped-ipv6")),
            },
            "profile" => {
                let profile = named(value).map_err(|names| wrong(&names))?;
                self.profile(profile);
            }
            _ if TransportKeys::SCOPES.iter().any(|(key, _)| *key == name) => {
                self.key(name, value).map_err(|what| format!("--{name}={value}: {what}"))?;
            }
            _ => return Err(format!("the option --{name} is not supported")),
        }
        Ok(())
    }

    /// Sets a key of the transport as in a scenario, with 0 and 1 for false and true.
    ///
    /// # Errors
    /// The error of the value.
    fn key(&mut self, name: &str, value: &str) -> Result<(), String> {
        let defaults = serde_json::to_value(TransportKeys::default()).map_err(|error| error.to_string())?;
        let value = match (&defaults[name], switch(value)) {
            (Json::Bool(_), Some(on)) => Json::Bool(on),
            _ => serde_json::from_str(value).unwrap_or_else(|_| Json::from(value)),
        };
        self.set(name, &value)
    }

    /// A key of the transport with its value as JSON.
    ///
    /// # Errors
    /// The error of the value.
    fn set(&mut self, name: &str, value: &Json) -> Result<(), String> {
        let mut keys = serde_json::to_value(&self.keys).map_err(|error| error.to_string())?;
        keys[name] = value.clone();
        let keys: TransportKeys =
            serde_json::from_value(keys).map_err(|error| format!("expected {}", expected(&error)))?;
        if let Some((_, problem)) = keys.problems().first() {
            return Err(problem.to_string());
        }
        self.keys = keys;
        Ok(())
    }

    /// Sets the algorithm.
    ///
    /// # Errors
    /// A name that is not known.
    pub fn algorithm(&mut self, name: &str) -> Result<(), String> {
        self.cc = CcSpec::by_name(name).ok_or_else(|| {
            let names: Vec<_> = algorithms().iter().map(|info| info.name).collect();
            format!("there is no algorithm `{name}`; there are {}", names.join(", "))
        })?;
        Ok(())
    }

    /// Applies `setsockopt(fd, level, name, value, length)`. Returns a note for an option without counterpart.
    ///
    /// # Errors
    /// A value that the option cannot have.
    pub fn socket_option(&mut self, name: &str, value: &str) -> Result<Option<String>, String> {
        let value = value.trim_matches(|c| matches!(c, '[' | ']' | '"' | ' '));
        let number = value.parse::<u32>().ok();
        match (name, number) {
            ("TCP_CONGESTION", _) => self.algorithm(value)?,
            ("TCP_MAXSEG", Some(mss)) => self.mss = mss,
            ("TCP_QUICKACK", Some(quick)) => self.delayed_ack = (quick == 0).then_some(DELAYED_ACK),
            ("TCP_NODELAY", Some(1..)) => {}
            ("TCP_NODELAY", Some(0)) => return Ok(Some("Nagle's algorithm is not simulated".to_owned())),
            _ if WITHOUT_EFFECT.contains(&name) => {}
            _ => return Ok(Some(format!("the socket option {name} is not supported"))),
        }
        Ok(None)
    }

    /// Applies commands of the shell. Returns a note for every unsupported part.
    ///
    /// # Errors
    /// A value that a setting cannot have.
    pub fn shell(&mut self, command: &str) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for command in commands(command) {
            match &command {
                Command::Sysctl { name, value } => self.sysctl(name, value, &mut notes)?,
                Command::Defaults => self.defaults(),
                Command::Restore => {}
                Command::Route(words) => self.route(words, &mut notes)?,
                Command::Qdisc { kind, .. } if kind == "fq" => self.keys.pacing = Pacing::Linux,
                Command::Qdisc { kind, options } if kind == "pfifo" && options.is_empty() => {
                    self.keys.pacing = Pacing::Off;
                }
                // 3 is both, the default.
                Command::File { path, value }
                    if path.ends_with("/tcp_cubic/parameters/hystart_detect") && value == "3" => {}
                Command::Qdisc { .. } | Command::File { .. } | Command::Other(_) => notes.push(never_run(&command)),
            }
        }
        Ok(notes)
    }

    fn sysctl(&mut self, name: &str, value: &str, notes: &mut Vec<String>) -> Result<(), String> {
        let wrong = || format!("{name}={value}: the value is not understood");
        let on = || value.parse::<u32>().map(|value| value > 0).map_err(|_| wrong());
        let known = name.strip_prefix("net.ipv4.").unwrap_or("");
        match known {
            "tcp_congestion_control" => self.algorithm(value)?,
            "tcp_sack" => self.sack = on()?,
            "tcp_dsack" => self.keys.dsack = on()?,
            "tcp_timestamps" => self.timestamps = on()?,
            "tcp_slow_start_after_idle" => self.keys.idle_restart = on()?,
            "tcp_ecn" if tcp_ecn(value).is_some() => {
                let (accepted, offered) = tcp_ecn(value).unwrap_or_default();
                self.ecn = accepted;
                self.ecn_offer = (offered != accepted).then_some(offered);
            }
            "tcp_ecn_option" if matches!(value, "0" | "1" | "2") => self.accecn_option = on()?,
            "tcp_rto_min_us" => self.min_rto = micros(value).ok_or_else(wrong)?,
            "tcp_recovery" if matches!(value, "0" | "1") => self.keys.rack = on()?,
            "tcp_early_retrans" if matches!(value, "0" | "3" | "4") => self.keys.tlp = on()?,
            "tcp_frto" => self.keys.frto = on()?,
            _ if AS_HERE.contains(&(known, value)) => {}
            _ if OF_BURSTS.contains(&known) => {}
            _ => notes.push(format!("the setting {name}={value} is not supported")),
        }
        Ok(())
    }

    /// `ip route change ... initcwnd 3 rto_min 1s`.
    fn route(&mut self, words: &[String], notes: &mut Vec<String>) -> Result<(), String> {
        for pair in words.windows(2) {
            let (name, value) = (&pair[0], &pair[1]);
            let wrong = || format!("{name} {value}: the value is not understood");
            match name.as_str() {
                "initcwnd" => {
                    let window: u32 = value.parse().map_err(|_| wrong())?;
                    self.initial_window = f64::from(window.max(1));
                }
                "advmss" => self.mss = value.parse().map_err(|_| wrong())?,
                "congctl" => self.algorithm(value)?,
                "quickack" => self.delayed_ack = (value == "0").then_some(DELAYED_ACK),
                "rto_min" => {
                    let millis = match value.strip_suffix("ms") {
                        Some(millis) => millis.parse().ok(),
                        None => value.strip_suffix('s').and_then(|s| s.parse::<u64>().ok()?.checked_mul(1000)),
                    };
                    let micros = millis.filter(|millis: &u64| *millis <= 1_000_000).ok_or_else(wrong)?;
                    self.min_rto = Duration::from_millis(micros);
                }
                "initrwnd" | "mtu" | "features" => notes.push(format!("the route's {name} is not supported")),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Linux's `tcp_ecn`: the feedback that is accepted, and the one that a SYN requests.
fn tcp_ecn(value: &str) -> Option<(EcnMode, EcnMode)> {
    use EcnMode::{AccEcn, Classic, Off};
    let modes = [(Off, Off), (Classic, Classic), (Classic, Off), (AccEcn, AccEcn), (AccEcn, Classic), (AccEcn, Off)];
    modes.get(value.parse::<usize>().ok()?).copied()
}

fn never_run(command: &Command) -> String {
    format!("`{command}` is not supported and never run")
}

/// At most a thousand seconds.
fn micros(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|micros| *micros <= 1_000_000_000).map(Duration::from_micros)
}

/// The value with this name in a scenario.
///
/// # Errors
/// The names that there are.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    T::deserialize(name.into_deserializer()).map_err(|error: serde::de::value::Error| expected(&error))
}

/// The expected value, from an error.
fn expected(error: &impl ToString) -> String {
    let message = error.to_string();
    message.split_once("expected ").map_or(message.clone(), |(_, names)| names.replace('`', ""))
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::TimeoutSsthresh;
    use crate::transport::ReductionName;

    #[test]
    fn commands_of_the_shell_are_mapped_or_noted() {
        let mut settings = Settings::default();
        let notes = settings
            .shell(
                "sysctl -q -w net.ipv4.tcp_sack=0 net.ipv4.tcp_ecn=0\n echo 0 > /proc/sys/net/ipv4/tcp_timestamps; \
                 sysctl net.ipv4.tcp_congestion_control=reno && ip route change 192.0.2.0/24 dev tun0 initcwnd 3 rto_min 1s",
            )
            .unwrap();
        assert_eq!(notes, Vec::<String>::new());
        assert_eq!((settings.sack, settings.timestamps, settings.initial_window), (false, false, 3.0));
        assert_eq!(settings.min_rto, Duration::from_secs(1));
        assert_eq!(settings.ecn, EcnMode::Off);
        assert_eq!(settings.shell("sysctl net.ipv4.tcp_ecn=1"), Ok(vec![]));
        assert_eq!(settings.ecn, EcnMode::Classic);
        let notes = settings.shell("rm -rf /; sysctl net.ipv4.tcp_ecn=9").unwrap();
        assert_eq!(
            notes,
            ["`rm -rf /` is not supported and never run", "the setting net.ipv4.tcp_ecn=9 is not supported"]
        );
        assert!(settings.shell("sysctl net.ipv4.tcp_congestion_control=cubik").is_err());
        assert!(settings.shell("ip route change initcwnd many").is_err());
    }

    #[test]
    fn the_defaults_of_packetdrill_are_those_of_linux() {
        let mut settings = Settings::default();
        let text = "../common/defaults.sh\nsysctl -q net.ipv4.tcp_early_retrans=0\ntc qdisc replace dev tun0 root fq\n\
                    ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_ecn=2 \\\n  /proc/sys/net/ipv4/tcp_frto=0";
        assert_eq!(settings.shell(text), Ok(vec![]));
        assert_eq!((settings.cc.name(), settings.wscale, settings.initial_window), ("cubic", 8, 10.0));
        let keys = &settings.keys;
        assert!(
            keys.rack
                && keys.prr == ReductionName::Switch(true)
                && !keys.tlp
                && !keys.frto
                && !keys.idle_restart
                && settings.ecn_offer == Some(EcnMode::Off)
        );
        assert_eq!((keys.pacing, settings.ecn), (Pacing::Linux, EcnMode::Classic));
        let mut own = Settings::default();
        own.option("profile", "linux").unwrap();
        assert_eq!(own, Settings::under(Profile::Linux));
        assert_eq!(Settings::under(Profile::Rfc), Settings::default());
    }

    #[test]
    fn options_take_the_names_of_a_scenario() {
        let mut settings = Settings::default();
        settings.option("recovery", "newreno").unwrap();
        settings.option("timeout_ssthresh", "half-flight").unwrap();
        settings.option("ecn", "accecn").unwrap();
        assert_eq!(settings.recovery, Some(LossRecovery::NewReno));
        assert_eq!(settings.keys.timeout_ssthresh, TimeoutSsthresh::HalfFlight);
        assert_eq!(settings.ecn, EcnMode::AccEcn);
        assert_eq!(
            settings.option("recovery", "vegas"),
            Err("--recovery=vegas: expected one of tahoe, reno, newreno, sack".to_owned())
        );
        settings.option("ip_version", "ipv4").unwrap();
        assert_eq!(settings.mss, 1460);
        settings.option("ip_version", "ipv6").unwrap();
        assert_eq!(settings.mss, 1440);
        let expected = "--ip_version=ipx: expected ipv4, ipv6 or ipv4-mapped-ipv6";
        assert_eq!(settings.option("ip_version", "ipx"), Err(expected.to_owned()));
        settings.option("prr", "1").unwrap();
        settings.option("handshake_rtt", "20 ms").unwrap();
        settings.option("rack", "1").unwrap();
        assert_eq!((settings.keys.prr, settings.keys.rack), (ReductionName::Switch(true), true));
        assert_eq!(settings.keys.handshake_rtt, Duration::from_millis(20));
        assert_eq!(settings.option("rack", "2"), Err("--rack=2: expected a boolean".to_owned()));
        settings.option("prr", "rate-halving").unwrap();
        settings.option("prr", "0").unwrap();
        assert_eq!(settings.keys.prr, ReductionName::Switch(false));
        assert_eq!(
            settings.option("initial_rto", "0 s"),
            Err("--initial_rto=0 s: 0 s is out of range; must be above zero".to_owned())
        );
    }

    #[test]
    fn socket_options_set_the_algorithm_and_the_delay_of_acks() {
        let mut settings = Settings::default();
        assert_eq!(settings.socket_option("TCP_CONGESTION", "\"aimd-fc\""), Ok(None));
        assert_eq!(settings.cc.name(), "aimd-fc");
        assert_eq!(settings.socket_option("TCP_QUICKACK", "[0]"), Ok(None));
        assert_eq!(settings.delayed_ack, Some(Duration::from_millis(40)));
        assert!(settings.socket_option("TCP_NODELAY", "[0]").unwrap().is_some());
        assert!(settings.socket_option("TCP_CORK", "[1]").unwrap().is_some());
    }
}
