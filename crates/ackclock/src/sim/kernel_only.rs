//! Parts of a plan that only a kernel runs.

use super::error::RunError;
use super::index::LinkId;
use super::plan::Plan;
use crate::cc::CcSpec;

impl Plan {
    /// The links whose queue is the kernel's, with its command line of `tc`.
    pub fn kernel_queues(&self) -> impl Iterator<Item = (LinkId, &str)> {
        self.link_ids().filter_map(|link| Some((link, self.links[link].queue.tc()?)))
    }

    /// Checks that the plan needs no kernel.
    ///
    /// # Errors
    /// [`RunError::NeedsKernel`] with the first key that only a kernel has.
    pub fn check_simulated(&self) -> Result<(), RunError> {
        for flow in self.tcp_flows() {
            let name = match flow.cc.spec() {
                Some(CcSpec::Kernel(algorithm)) => &algorithm.name,
                Some(CcSpec::Module(module)) => &module.source,
                _ => continue,
            };
            let key = format!("flows.{}.cc", flow.group);
            return Err(RunError::NeedsKernel { key, what: format!("{name} runs in a kernel only") });
        }
        if !self.kernel.subflows.is_empty() {
            let (key, what) = ("kernel.mptcp".to_owned(), "the simulation has no Multipath TCP".to_owned());
            return Err(RunError::NeedsKernel { key, what });
        }
        if let Some((link, _)) = self.kernel_queues().next() {
            let (key, what) = (self.links[link].queue_key(), "the simulation has no queues of the kernel".to_owned());
            return Err(RunError::NeedsKernel { key, what });
        }
        match self.kernel.sysctls.keys().next() {
            Some(name) => {
                let (key, what) = (format!("kernel.sysctl.{name}"), "the simulation has no sysctls".to_owned());
                Err(RunError::NeedsKernel { key, what })
            }
            None => Ok(()),
        }
    }
}
