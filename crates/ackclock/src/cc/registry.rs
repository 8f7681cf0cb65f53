//! Every algorithm by name: one line of [`register!`] each.
//!
//! A line makes the algorithm known to scenarios, the schema, `list`, the contract tests and the docs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::foreign::{BpfProgram, Foreign, KernelAlgorithm, KernelModule, PythonClass, SharedLibrary, Unbound};
use super::{
    Ack, Bbr1, Bbr3, Bic, CcContext, CcMistake, CcParameters, Cdg, Compound, Congestion, CongestionControl, Copa,
    Cubic, Dctcp, Departures, EcnNeed, Gcc, HighSpeed, Htcp, Hybla, Illinois, Ledbat, LedbatPlusPlus, Loss, Lp,
    MediaControl, Nv, PacketControl, ParametersVisitor, PhaseChange, Prague, Recovery, RuleText, Scalable, Scream,
    Sent, Vegas, Veno, Westwood, Yeah,
};
use crate::ecn::Ecn;
use crate::rule::{Rule, RuleParameters, aild, binomial, fast_convergence, gaimd, linear, mr_aimd, new_aimd, reno};
use crate::units::{Instant, Rate};

/// A registered algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CcInfo {
    /// The `kind` in a scenario.
    pub name: &'static str,
    /// Parameters with their defaults.
    pub defaults: CcSpec,
}

/// A `kind` of algorithm, as `ackclock list cc` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcKind {
    /// The `kind` in a scenario.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// The family of algorithms.
    pub family: &'static str,
    /// The paper or standard.
    pub reference: &'static str,
}

/// The controller of an algorithm, in a box if it is much larger than most.
macro_rules! kept {
    ($controller:ty) => { $controller };
    ($controller:ty, Box) => { Box<$controller> };
}

macro_rules! register {
    ($(family $family:literal:
        $($name:literal $(or $alias:literal)* => $variant:ident: $parameters:ty $(as $kept:ident)?;)*)*
     foreign $foreign_family:literal: $($foreign_name:literal => $foreign:ident: $source:ty;)*) => {
        /// An algorithm and its parameters, as a scenario gives them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        // In the schema an algorithm is what the comment above its parameters says.
        #[allow(missing_docs)]
        pub enum CcSpec {
            $($(
                #[serde(rename = $name $(, alias = $alias)*)]
                $variant($parameters),
            )*)*
            $(
                #[serde(rename = $foreign_name)]
                $foreign(Arc<$source>),
            )*
        }

        /// An algorithm with its state, dispatched by its kind. Each flow has one, so large ones are boxed.
        #[derive(Debug)]
        pub enum Cc {
            $($(
                #[doc = concat!("`", $name, "`")]
                $variant(kept!(<$parameters as CcParameters>::Controller $(, $kept)?)),
            )*)*
            /// An algorithm that is not registered.
            Custom(Box<dyn CongestionControl>),
        }

        /// Every `kind` with its family and its reference, user-supplied code last.
        pub fn kinds() -> Vec<CcKind> {
            vec![
                $($(CcKind {
                    name: $name,
                    aliases: &[$($alias),*],
                    family: $family,
                    reference: <$parameters as CcParameters>::REFERENCE,
                },)*)*
                $(CcKind {
                    name: $foreign_name,
                    aliases: &[],
                    family: $foreign_family,
                    reference: <$source as Foreign>::REFERENCE,
                },)*
            ]
        }

        /// Every registered algorithm.
        pub fn algorithms() -> Vec<CcInfo> {
            vec![$($(CcInfo { name: $name, defaults: CcSpec::$variant(<$parameters>::default()) },)*)*]
        }

        impl CcSpec {
            /// The `kind` of the algorithm.
            pub fn name(&self) -> &'static str {
                match self {
                    $($(CcSpec::$variant(_) => $name,)*)*
                    $(CcSpec::$foreign(_) => $foreign_name,)*
                }
            }

            /// The algorithm called `name` with its default parameters.
            pub fn by_name(name: &str) -> Option<CcSpec> {
                $($(if name == $name $(|| name == $alias)* {
                    return Some(CcSpec::$variant(<$parameters>::default()));
                })*)*
                None
            }

            /// Checks the ranges of the parameters.
            ///
            /// # Errors
            /// The first parameter that is out of its range, or the first mistake in a formula.
            pub fn check(&self) -> Result<(), CcMistake> {
                match self {
                    $($(CcSpec::$variant(parameters) => CcParameters::check(parameters),)*)*
                    $(CcSpec::$foreign(source) => source.check(),)*
                }
            }

            /// The algorithm at the start of a connection. User-supplied code needs a factory to run
            /// ([`Plan::bind`](crate::sim::Plan::bind)). Without one the algorithm reports a fault that says so.
            pub fn build(&self, context: CcContext) -> Cc {
                match self {
                    $($(CcSpec::$variant(parameters) => Cc::$variant(parameters.controller(context).into()),)*)*
                    $(CcSpec::$foreign(source) => Cc::Custom(Box::new(Unbound::new(source.unbound()))),)*
                }
            }

            /// The name in results: the `kind`, or the name of the user-supplied code.
            pub fn title(&self) -> String {
                match self {
                    $($(CcSpec::$variant(_) => $name.to_owned(),)*)*
                    $(CcSpec::$foreign(source) => source.title(),)*
                }
            }

            /// Whether it is user-supplied code or the kernel's, which needs a factory.
            pub fn is_foreign(&self) -> bool {
                match self {
                    $($(CcSpec::$variant(_) => false,)*)*
                    $(CcSpec::$foreign(_) => true,)*
                }
            }

            /// Shows `visitor` the parameters of the window rule with their own type. An algorithm with more than a
            /// window rule shows nothing.
            pub fn visit<V: ParametersVisitor>(&self, visitor: V) -> Option<V::Output> {
                match self {
                    $($(CcSpec::$variant(parameters) => parameters.visit(visitor),)*)*
                    $(CcSpec::$foreign(_) => None,)*
                }
            }

            /// False for an algorithm that has no response to ECN at all: marks are lost on it.
            pub fn responds_to_marks(&self) -> bool {
                match self {
                    $($(CcSpec::$variant(parameters) => CcParameters::responds_to_marks(parameters),)*)*
                    $(CcSpec::$foreign(_) => true,)*
                }
            }

            /// Feedback on marks without which the algorithm does not work.
            pub fn needs_ecn(&self) -> EcnNeed {
                match self {
                    $($(CcSpec::$variant(parameters) => CcParameters::needs_ecn(parameters),)*)*
                    $(CcSpec::$foreign(_) => EcnNeed::None,)*
                }
            }

            /// The window rule alone, for the synchronous model. An algorithm with more than a window rule returns
            /// none.
            pub fn rule(&self) -> Option<Box<dyn Rule>> {
                self.visit(FreshRule)
            }
        }

        macro_rules! dispatch {
            ($self_:expr, $cc:ident => $call:expr) => {
                match $self_ {
                    $($(Cc::$variant($cc) => $call,)*)*
                    Cc::Custom($cc) => $call,
                }
            };
        }
    };
}

register! {
    family "Standards":
    "reno" => Reno: reno::Reno;
    "cubic" => Cubic: Cubic;

    family "By loss, for fast and long paths":
    "bic" => Bic: Bic;
    "highspeed" => HighSpeed: HighSpeed;
    "scalable" => Scalable: Scalable;
    "htcp" => Htcp: Htcp as Box;
    "hybla" => Hybla: Hybla;
    "westwood" => Westwood: Westwood;

    family "By loss and delay":
    "veno" => Veno: Veno;
    "illinois" => Illinois: Illinois;
    "yeah" => Yeah: Yeah;
    "compound" or "ctcp" => Compound: Compound as Box;

    family "By delay":
    "vegas" => Vegas: Vegas;
    "ledbat" => Ledbat: Ledbat as Box;
    "ledbat++" => LedbatPlusPlus: LedbatPlusPlus as Box;
    "copa" => Copa: Copa as Box;
    "lp" => Lp: Lp;
    "cdg" => Cdg: Cdg as Box;
    "nv" => Nv: Nv as Box;

    family "Scalable, for L4S and data centres":
    "dctcp" => Dctcp: Dctcp;
    "prague" => Prague: Prague as Box;

    family "For media":
    "scream" => Scream: Scream as Box;
    "gcc" => Gcc: Gcc as Box;

    family "Model-based":
    "bbr1" or "bbr" => Bbr1: Bbr1;
    "bbr3" => Bbr3: Bbr3;

    family "Window rules, for smooth rates":
    "gaimd" => Gaimd: gaimd::Gaimd;
    "binomial" => Binomial: binomial::Binomial;
    "sqrt" => Sqrt: binomial::Sqrt;
    "iiad" => Iiad: binomial::Iiad;

    family "Window rules of the papers":
    "aimd" => Aimd: linear::Aimd;
    "aiad" => Aiad: linear::Aiad;
    "mimd" => Mimd: linear::Mimd;
    "miad" => Miad: linear::Miad;
    "linear" => Linear: linear::Linear;
    "aild" => Aild: aild::Aild;
    "aimd-fc" => AimdFc: fast_convergence::AimdFc;
    "aimd-fc+" or "aimd-fc-plus" => AimdFcPlus: fast_convergence::AimdFcPlus;
    "new-aimd" => NewAimd: new_aimd::NewAimd;
    "mr-aimd" => MrAimd: mr_aimd::MrAimd;

    family "Your own":
    "rule" => Rule: RuleText;

    foreign "Your own":
    "python" => Python: PythonClass;
    "library" => Library: SharedLibrary;
    "bpf" => Bpf: BpfProgram;
    "kernel" => Kernel: KernelAlgorithm;
    "module" => Module: KernelModule;
}

struct FreshRule;

impl ParametersVisitor for FreshRule {
    type Output = Box<dyn Rule>;

    fn visit<P: RuleParameters>(self, parameters: &P) -> Self::Output {
        Box::new(parameters.rule())
    }
}

/// The requests of an algorithm to its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) pacing_rate: Option<Rate>,
}

/// The present requests of an algorithm, by its own type or in a box.
macro_rules! requests {
    ($cc:ident) => {
        Requests { cwnd: $cc.cwnd(), ssthresh: $cc.ssthresh(), pacing_rate: $cc.pacing_rate() }
    };
}

impl Cc {
    /// The present requests.
    pub(crate) fn requests(&self) -> Requests {
        dispatch!(self, cc => requests!(cc))
    }

    /// The requests after an ACK.
    pub(crate) fn requests_after_ack(&mut self, ack: &Ack) -> Requests {
        dispatch!(self, cc => {
            cc.on_ack(ack);
            requests!(cc)
        })
    }

    /// The requests after a departure.
    pub(crate) fn requests_after_sent(&mut self, sent: &Sent) -> Requests {
        dispatch!(self, cc => {
            cc.on_sent(sent);
            requests!(cc)
        })
    }
}

impl CongestionControl for Cc {
    #[inline]
    fn cwnd(&self) -> f64 {
        dispatch!(self, cc => cc.cwnd())
    }
    fn fault(&self) -> Option<&str> {
        dispatch!(self, cc => cc.fault())
    }
    #[inline]
    fn ssthresh(&self) -> f64 {
        dispatch!(self, cc => cc.ssthresh())
    }
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, cc => cc.pacing_rate())
    }
    fn send_quantum(&self) -> u64 {
        dispatch!(self, cc => cc.send_quantum())
    }
    fn owns_recovery(&self) -> bool {
        dispatch!(self, cc => cc.owns_recovery())
    }
    fn least_in_recovery(&self) -> f64 {
        dispatch!(self, cc => cc.least_in_recovery())
    }
    fn congestion_may_raise(&self) -> bool {
        dispatch!(self, cc => cc.congestion_may_raise())
    }
    fn responds_to_ecn(&self) -> bool {
        dispatch!(self, cc => cc.responds_to_ecn())
    }
    fn departures(&self) -> Departures {
        dispatch!(self, cc => cc.departures())
    }
    fn codepoint(&self) -> Ecn {
        dispatch!(self, cc => cc.codepoint())
    }
    fn packet_control(&mut self) -> Option<&mut dyn PacketControl> {
        dispatch!(self, cc => cc.packet_control())
    }
    fn media_control(&mut self) -> Option<&mut dyn MediaControl> {
        dispatch!(self, cc => cc.media_control())
    }
    fn needs_rate_samples(&self) -> bool {
        dispatch!(self, cc => cc.needs_rate_samples())
    }
    fn on_loss(&mut self, loss: &Loss) {
        dispatch!(self, cc => cc.on_loss(loss))
    }
    fn on_sent(&mut self, sent: &Sent) {
        dispatch!(self, cc => cc.on_sent(sent))
    }
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        dispatch!(self, cc => cc.on_ack(ack))
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        dispatch!(self, cc => cc.on_congestion(congestion))
    }
    fn on_recovery_enter(&mut self, recovery: &Recovery) {
        dispatch!(self, cc => cc.on_recovery_enter(recovery))
    }
    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        dispatch!(self, cc => cc.on_recovery_exit(recovery))
    }
    fn on_undo(&mut self, recovery: &Recovery) {
        dispatch!(self, cc => cc.on_undo(recovery))
    }
    fn on_phase(&mut self, change: &PhaseChange) {
        dispatch!(self, cc => cc.on_phase(change))
    }
    fn on_resume(&mut self, now: Instant) {
        dispatch!(self, cc => cc.on_resume(now))
    }
    fn on_limit(&mut self, segments: f64) {
        dispatch!(self, cc => cc.on_limit(segments))
    }
    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        dispatch!(self, cc => cc.probe(report))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::cc::{CongestionKind, PathView, Phase, Restart};

    /// Notes every call.
    #[derive(Debug, Default)]
    struct Witness(Arc<Mutex<Vec<&'static str>>>);

    impl Witness {
        fn note(&self, call: &'static str) {
            self.0.lock().unwrap().push(call);
        }
    }

    impl CongestionControl for Witness {
        fn cwnd(&self) -> f64 {
            7.0
        }
        fn ssthresh(&self) -> f64 {
            9.0
        }
        fn pacing_rate(&self) -> Option<Rate> {
            Rate::from_bps(1000)
        }
        fn owns_recovery(&self) -> bool {
            true
        }
        fn least_in_recovery(&self) -> f64 {
            5.0
        }
        fn congestion_may_raise(&self) -> bool {
            true
        }
        fn responds_to_ecn(&self) -> bool {
            false
        }
        fn send_quantum(&self) -> u64 {
            3000
        }
        fn needs_rate_samples(&self) -> bool {
            false
        }
        fn on_sent(&mut self, _sent: &Sent) {
            self.note("sent");
        }
        fn on_loss(&mut self, _loss: &Loss) {
            self.note("loss");
        }
        fn on_ack(&mut self, _ack: &Ack) {
            self.note("ack");
        }
        fn on_congestion(&mut self, _congestion: &Congestion) {
            self.note("congestion");
        }
        fn on_recovery_enter(&mut self, _recovery: &Recovery) {
            self.note("enter");
        }
        fn on_recovery_exit(&mut self, _recovery: &Recovery) {
            self.note("exit");
        }
        fn on_undo(&mut self, _recovery: &Recovery) {
            self.note("undo");
        }
        fn on_phase(&mut self, _change: &PhaseChange) {
            self.note("phase");
        }
        fn on_resume(&mut self, _now: Instant) {
            self.note("resume");
        }
        fn codepoint(&self) -> Ecn {
            Ecn::Ect1
        }
        fn on_limit(&mut self, _segments: f64) {
            self.note("limit");
        }
        fn probe(&self, _report: &mut dyn FnMut(&str, f64)) {
            self.note("probe");
        }
    }

    #[test]
    fn an_algorithm_that_is_not_registered_is_asked_and_told_everything() {
        let witness = Witness::default();
        let heard = witness.0.clone();
        let mut cc = Cc::Custom(Box::new(witness));
        assert_eq!((cc.cwnd(), cc.ssthresh(), cc.pacing_rate()), (7.0, 9.0, Rate::from_bps(1000)));
        assert_eq!(cc.least_in_recovery(), 5.0);
        assert!(cc.owns_recovery() && cc.congestion_may_raise() && !cc.responds_to_ecn());
        assert_eq!(cc.codepoint(), Ecn::Ect1);
        assert!(cc.departures() == Departures::All && !cc.needs_rate_samples() && cc.send_quantum() == 3000);
        let (now, path) = (Instant::ZERO, PathView::default());
        let (kind, restart, recovery) =
            (CongestionKind::Loss, Restart::Reduced, Recovery { now, flight_size: 1, path });
        cc.on_sent(&Sent { now, bytes: 1460, retransmission: false, idle_for: None, path });
        let (retransmission, tx_in_flight, lost, app_limited) = (false, 2920, 1460, false);
        cc.on_loss(&Loss { now, bytes: 1460, retransmission, tx_in_flight, lost, app_limited, path });
        cc.on_ack(&Ack::of(1.0));
        cc.on_congestion(&Congestion { now, kind, restart, flight_size: 1, path });
        cc.on_recovery_enter(&recovery);
        cc.on_recovery_exit(&recovery);
        cc.on_undo(&recovery);
        cc.on_phase(&PhaseChange { now, from: Phase::SlowStart, to: Phase::FastRecovery });
        cc.on_resume(now);
        cc.on_limit(3.0);
        cc.probe(&mut |_, _| {});
        let expected =
            ["sent", "loss", "ack", "congestion", "enter", "exit", "undo", "phase", "resume", "limit", "probe"];
        assert_eq!(*heard.lock().unwrap(), expected);
    }

    #[test]
    fn a_spec_is_read_by_kind_and_keeps_its_parameters() {
        let spec: CcSpec = serde_json::from_str(r#"{"kind": "aimd", "increase": 2.0}"#).unwrap();
        assert_eq!(spec, CcSpec::Aimd(linear::Aimd { increase: 2.0, remaining: 0.5 }));
        assert!(serde_json::from_str::<CcSpec>(r#"{"kind": "aimd", "increse": 2.0}"#).is_err());
        let bbr: CcSpec = serde_json::from_str(r#"{"kind": "bbr"}"#).unwrap();
        assert_eq!((Some(bbr.clone()), bbr.name()), (CcSpec::by_name("bbr"), "bbr1"));
        for info in algorithms() {
            assert_eq!(CcSpec::by_name(info.name), Some(info.defaults.clone()));
            assert_eq!(info.defaults.check(), Ok(()));
        }
    }

    #[test]
    fn a_spec_checks_its_parameters_and_knows_its_rule() {
        assert!(CcSpec::Aimd(linear::Aimd { increase: -1.0, remaining: 0.5 }).check().is_err());
        let rule = |name| CcSpec::by_name(name).unwrap().rule();
        assert_eq!(rule("aimd").unwrap().cut(10.0), 5.0);
        assert!(rule("cubic").is_none(), "CUBIC is more than a window rule");
    }

    #[test]
    fn all_but_mr_aimd_bbr_and_gcc_send_less_for_marks() {
        for spec in algorithms().into_iter().map(|info| info.defaults) {
            let cc = spec.build(CcContext::new(2.0));
            let ignores = spec.name().starts_with("bbr") || spec.name() == "gcc";
            // Feedback without counts makes Prague respond as Reno.
            assert_eq!(cc.responds_to_ecn(), !ignores && spec.name() != "mr-aimd", "{spec:?}");
            assert_eq!(spec.responds_to_marks(), !ignores, "{spec:?}");
        }
    }

    #[test]
    fn a_window_rule_asks_for_nothing_but_its_window() {
        for spec in algorithms().into_iter().map(|info| info.defaults).filter(|spec| spec.rule().is_some()) {
            let cc = spec.build(CcContext::new(2.0));
            assert_eq!(
                (cc.pacing_rate(), cc.owns_recovery(), cc.needs_rate_samples()),
                (None, false, false),
                "{spec:?}"
            );
            assert_eq!(cc.congestion_may_raise(), spec.rule().unwrap().cut_may_raise(), "{spec:?}");
            assert_eq!(spec.rule().unwrap().accelerates(), spec.name() == "mr-aimd", "{spec:?}");
        }
    }
}
