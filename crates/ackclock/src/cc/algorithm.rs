//! An algorithm by name: a built-in one with its parameters, or a user-supplied factory.

use std::fmt;
use std::sync::Arc;

use super::{Cc, CcContext, CcSpec, CongestionControl};

/// Makes the algorithm of each connection.
///
/// This is the interface for algorithms outside the core: rule text, classes of other languages, other crates and
/// eBPF programs. Flows of a group and replicates on other threads share a factory. A factory therefore keeps no
/// state of a connection. An algorithm must give the same outputs for the same events. `contract::check_cc` checks
/// this.
///
/// A closure is one:
///
/// ```
/// use ackclock::cc::{Ack, Algorithm, CcContext, Congestion, CongestionControl};
///
/// /// Never more than four segments.
/// #[derive(Debug)]
/// struct Four;
///
/// impl CongestionControl for Four {
///     fn cwnd(&self) -> f64 {
///         4.0
///     }
///     fn ssthresh(&self) -> f64 {
///         4.0
///     }
///     fn on_ack(&mut self, _ack: &Ack) {}
///     fn on_congestion(&mut self, _congestion: &Congestion) {}
/// }
///
/// let four = Algorithm::new("four", |_context: CcContext| Four);
/// assert_eq!(&**four.name(), "four");
/// assert_eq!(four.build(CcContext::new(10.0)).cwnd(), 4.0);
/// ```
pub trait CcFactory: Send + Sync {
    /// The algorithm at the start of a connection.
    fn build(&self, context: CcContext) -> Box<dyn CongestionControl>;
}

impl<F, C> CcFactory for F
where
    F: Fn(CcContext) -> C + Send + Sync,
    C: CongestionControl + 'static,
{
    fn build(&self, context: CcContext) -> Box<dyn CongestionControl> {
        Box::new(self(context))
    }
}

/// The algorithm of a flow: a name and its factory.
#[derive(Clone)]
pub struct Algorithm {
    name: Arc<str>,
    origin: Origin,
}

#[derive(Clone)]
enum Origin {
    BuiltIn(CcSpec),
    Outside(Arc<dyn CcFactory>),
}

impl Algorithm {
    /// A user-supplied algorithm, under the name that results show.
    pub fn new(name: impl Into<Arc<str>>, factory: impl CcFactory + 'static) -> Self {
        Algorithm { name: name.into(), origin: Origin::Outside(Arc::new(factory)) }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The parameters of a built-in algorithm.
    pub fn spec(&self) -> Option<&CcSpec> {
        match &self.origin {
            Origin::BuiltIn(spec) => Some(spec),
            Origin::Outside(_) => None,
        }
    }

    /// The algorithm at the start of a connection. Events reach a built-in one without indirection.
    pub fn build(&self, context: CcContext) -> Cc {
        match &self.origin {
            Origin::BuiltIn(spec) => spec.build(context),
            Origin::Outside(factory) => Cc::Custom(factory.build(context)),
        }
    }
}

impl From<CcSpec> for Algorithm {
    fn from(spec: CcSpec) -> Self {
        Algorithm { name: spec.title().into(), origin: Origin::BuiltIn(spec) }
    }
}

impl From<CcSpec> for Arc<Algorithm> {
    fn from(spec: CcSpec) -> Self {
        Arc::new(spec.into())
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::BuiltIn(spec) => spec.fmt(f),
            Origin::Outside(_) => write!(f, "Algorithm({:?})", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Windowed;
    use crate::rule::RuleParameters;
    use crate::rule::reno::Reno;

    #[test]
    fn a_built_in_algorithm_has_its_parameters_and_its_own_variant() {
        let spec = CcSpec::by_name("cubic").unwrap();
        let cubic = Algorithm::from(spec.clone());
        assert_eq!((&**cubic.name(), cubic.spec()), ("cubic", Some(&spec)));
        assert!(matches!(cubic.build(CcContext::new(2.0)), Cc::Cubic(_)));
        assert_eq!(format!("{cubic:?}"), format!("{spec:?}"));
    }

    #[test]
    fn a_factory_makes_a_new_algorithm_for_each_connection() {
        let mine = Algorithm::new("mine", |context| Windowed::new(Reno::default().rule(), context));
        assert!(mine.spec().is_none());
        let windows = [3.0, 7.0].map(|window| mine.clone().build(CcContext::new(window)).cwnd());
        assert_eq!(windows, [3.0, 7.0]);
        assert_eq!(format!("{mine:?}"), r#"Algorithm("mine")"#);
    }
}
