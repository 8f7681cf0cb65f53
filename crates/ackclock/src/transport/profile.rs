//! Profiles: named sets of defaults of the keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A set of defaults for the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The defaults of the RFCs.
    #[default]
    Rfc,
    /// The defaults of ns-2, as its validation suites set them.
    #[serde(rename = "ns-2")]
    Ns2,
    /// The defaults of ns-2's `Agent/TCP/Linux`, which is based on Linux 2.6.22.
    #[serde(rename = "ns-2-linux")]
    Ns2Linux,
    /// The defaults of Linux 6.x.
    Linux,
    /// The defaults of QUIC (RFC 9000 and 9002), which also select the protocol.
    Quic,
    /// The defaults of RTP with the feedback of RFC 8888, which also select the protocol.
    Rtp,
}

impl Profile {
    /// All of them, by name.
    pub const ALL: &[(&str, Profile)] = &[
        ("rfc", Profile::Rfc),
        ("ns-2", Profile::Ns2),
        ("ns-2-linux", Profile::Ns2Linux),
        ("linux", Profile::Linux),
        ("quic", Profile::Quic),
        ("rtp", Profile::Rtp),
    ];
}
