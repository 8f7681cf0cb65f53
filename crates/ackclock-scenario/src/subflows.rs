//! The subflows of a connection of Multipath TCP: flows that are named in `kernel.mptcp`.

use super::mistakes::Misfits;
use super::schema::{Document, Draw, Flow};
use super::traffic::TrafficKeys;
use ackclock::quantity::{Hint, Problem};
use ackclock::sim::{FlowId, FlowPlan};
use ackclock::units::Duration;

const KEY: &str = "kernel.mptcp";
/// Linux opens at most eight further subflows.
const MOST: usize = 9;

/// The names of the subflows. The first opens the connection.
fn names(document: &Document) -> &[String] {
    document.kernel.as_ref().map_or(&[], |kernel| kernel.mptcp.as_slice())
}

/// Checks that the named flows exist and can be subflows.
pub fn check_subflows(document: &Document, misfits: &mut Misfits) {
    let names = names(document);
    if names.len() == 1 || names.len() > MOST {
        let (expected, found) = (format!("2 to {MOST}"), names.len());
        misfits.check(KEY, Err::<(), _>(Problem::WrongLength { expected, found }));
    }
    let find = |name: &String| document.flows.iter().find(|flow| flow.name == *name);
    let first = names.first().and_then(find);
    for (index, name) in names.iter().enumerate() {
        let result = match find(name) {
            None => {
                let known = document.flows.iter().map(|flow| flow.name.as_str());
                Err(Problem::UnknownName { what: "flow", name: name.clone(), hint: Hint::for_name(name, known) })
            }
            Some(flow) => reason(flow, first, index)
                .map_or(Ok(()), |reason| Err(Problem::NotASubflow { flow: name.clone(), reason })),
        };
        misfits.check(&format!("{KEY}.{index}"), result);
    }
    if let Some(repeated) = (1..names.len()).find(|index| names[..*index].contains(&names[*index])) {
        let (flow, reason) = (names[repeated].clone(), "the list contains it twice");
        misfits.check(KEY, Err::<(), _>(Problem::NotASubflow { flow, reason }));
    }
}

/// Why a flow cannot be the subflow with this index of the connection that `first` opens.
fn reason(flow: &Flow, first: Option<&Flow>, index: usize) -> Option<&'static str> {
    let begins_later = flow.start != Draw::Fixed(Duration::ZERO) || flow.stop.is_some();
    if flow.count != 1 {
        Some("a subflow has no count")
    } else if !flow.is_persistent() {
        Some("its traffic is more than one connection")
    } else if matches!(flow.traffic, TrafficKeys::Transfer { .. }) {
        Some("the end of a transfer over several subflows is not measured")
    } else if index > 0 && (flow.traffic != TrafficKeys::Bulk || begins_later) {
        Some("traffic, start and stop are of the first flow")
    } else if first.is_some_and(|first| first.cc != flow.cc) {
        Some("all subflows need the cc of the first flow")
    } else {
        None
    }
}

/// The subflows among the flows of a plan.
pub fn subflows(document: &Document, flows: &[FlowPlan]) -> Vec<FlowId> {
    let index = |name: &String| flows.iter().position(|flow| *flow.name == **name);
    names(document).iter().filter_map(index).map(FlowId::new).collect()
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    const TEXT: &str = "
        schema = 2
        duration = '1 s'
        links = { a = { rate = '1 Mbit/s' }, b = { rate = '1 Mbit/s' } }
        kernel = { mptcp = ['x', 'y'] }
        [[flows]]
        name = 'x'
        cc = 'reno'
        path = ['a']
        [[flows]]
        name = 'y'
        cc = 'reno'
        path = ['b']
    ";

    #[test]
    fn the_plan_has_the_flows_in_the_order_of_the_list() {
        for (list, numbers) in [("['x', 'y']", [0, 1]), ("['y', 'x']", [1, 0])] {
            let set = format!("kernel.mptcp={}", list.replace('\'', "\""));
            let plan = Scenario::from_toml(TEXT, "s.toml", &[set]).unwrap().plan(None, 0);
            assert_eq!(plan.kernel.subflows.iter().map(|flow| flow.number()).collect::<Vec<_>>(), numbers);
        }
    }

    #[test]
    fn mistakes_name_the_flow_and_the_reason() {
        for (set, expected) in [
            ("kernel.mptcp=[\"x\"]", "kernel.mptcp: expected 2 to 9 items, found 1"),
            ("kernel.mptcp=[\"x\",\"z\"]", "kernel.mptcp.1: unknown flow \"z\"; use one of x, y"),
            ("kernel.mptcp=[\"x\",\"x\"]", "kernel.mptcp: x cannot be a subflow: the list contains it twice"),
            ("flows.y.count=2", "kernel.mptcp.1: y cannot be a subflow: a subflow has no count"),
            ("flows.y.cc=cubic", "kernel.mptcp.1: y cannot be a subflow: all subflows need the cc of the first flow"),
            (
                "flows.y.start=1 ms",
                "kernel.mptcp.1: y cannot be a subflow: traffic, start and stop are of the first flow",
            ),
            (
                "flows.x.traffic={ kind = \"transfer\", size = \"1 MB\" }",
                "kernel.mptcp.0: x cannot be a subflow: the end of a transfer over several subflows is not measured",
            ),
        ] {
            let error = Scenario::from_toml(TEXT, "s.toml", &[set]).map(drop).unwrap_err().to_string();
            assert!(error.contains(expected), "{set}: {error}");
        }
    }
}
