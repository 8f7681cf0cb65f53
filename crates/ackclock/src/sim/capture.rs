//! The places where packets are captured, and the captured flows.

use super::index::LinkId;
use super::plan::{CapturePlan, CapturePoint, Plan};

/// A name that does not occur in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureError {
    /// No link has the requested name.
    Link {
        /// Links that there are, and both ends.
        known: Vec<String>,
    },
    /// No flow has the requested name.
    Flow {
        /// The name.
        name: String,
        /// Flows that there are, and their groups.
        known: Vec<String>,
    },
    /// None of the flows passes the link.
    NothingPasses,
}

impl CapturePoint {
    const SENDER: &str = "sender";
    const RECEIVER: &str = "receiver";

    /// Its name.
    pub fn name(self, plan: &Plan) -> &str {
        match self {
            CapturePoint::Sender => Self::SENDER,
            CapturePoint::Receiver => Self::RECEIVER,
            CapturePoint::Link(link) => &plan.links[link].name,
        }
    }
}

impl CapturePlan {
    /// Whether a flow of this name and group is captured.
    pub fn takes(&self, name: &str, group: &str) -> bool {
        self.flows.is_empty() || self.flows.iter().any(|chosen| chosen == name || chosen == group)
    }
}

impl Plan {
    /// Captures packets at a link, or at `sender` or `receiver`, and the states of `senders`. It selects the flows
    /// with these names, or all flows without names.
    ///
    /// # Errors
    /// If a name is not known, or no flow passes the link.
    pub fn capture_at(&mut self, at: &str, flows: &[String], senders: bool) -> Result<(), CaptureError> {
        let point = match at {
            CapturePoint::SENDER => CapturePoint::Sender,
            CapturePoint::RECEIVER => CapturePoint::Receiver,
            link => {
                let place = self.links.iter().position(|plan| plan.name == link);
                CapturePoint::Link(
                    place.map(LinkId::new).ok_or_else(|| CaptureError::Link { known: self.capture_points() })?,
                )
            }
        };
        let ends = self.ends_of_routes();
        for name in flows {
            if !ends.iter().any(|(flow, group, _)| flow == name || group == name) {
                let names = ends.iter().flat_map(|(flow, group, _)| [*flow, *group]);
                let mut known: Vec<String> = names.map(str::to_owned).collect();
                known.sort_unstable();
                known.dedup();
                return Err(CaptureError::Flow { name: name.clone(), known });
            }
        }
        let capture = CapturePlan { point, flows: flows.to_vec(), senders };
        if let CapturePoint::Link(link) = point {
            let passes = |path: &[LinkId]| path.contains(&link);
            let chosen = ends.iter().filter(|(flow, group, _)| capture.takes(flow, group));
            if !chosen.into_iter().any(|(.., paths)| paths.iter().any(|path| passes(path))) {
                return Err(CaptureError::NothingPasses);
            }
        }
        self.capture = Some(capture);
        Ok(())
    }

    /// The link in the other direction, which has the same name with or without `.reverse`.
    pub fn opposite(&self, link: LinkId) -> Option<LinkId> {
        let name = &self.links[link].name;
        let opposite = name.strip_suffix(".reverse").map_or_else(|| format!("{name}.reverse"), str::to_owned);
        self.links.iter().position(|other| other.name == opposite).map(LinkId::new)
    }

    fn capture_points(&self) -> Vec<String> {
        let ends = [CapturePoint::SENDER, CapturePoint::RECEIVER].map(str::to_owned);
        ends.into_iter().chain(self.links.iter().map(|link| link.name.clone())).collect()
    }

    /// Name, group and paths of every flow and source of datagrams.
    fn ends_of_routes(&self) -> Vec<(&str, &str, Vec<&[LinkId]>)> {
        let flows = self.tcp_flows().map(|flow| (&*flow.name, &*flow.group, vec![&*flow.forward, &*flow.reverse]));
        let sources = self.datagrams.iter().flat_map(|row| {
            row.sources.iter().map(|source| (source.name.as_str(), row.group.as_str(), vec![&*source.forward]))
        });
        flows.chain(sources).collect()
    }
}
