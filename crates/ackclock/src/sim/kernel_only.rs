//! Parts of a plan that only a kernel runs.

use super::error::RunError;
use super::plan::Plan;
use crate::cc::CcSpec;

impl Plan {
    /// Checks that the plan needs no kernel.
    ///
    /// # Errors
    /// [`RunError::NeedsKernel`] with the first key that only a kernel has.
    pub fn check_simulated(&self) -> Result<(), RunError> {
        for flow in self.tcp_flows() {
            if let Some(CcSpec::Kernel(algorithm)) = flow.cc.spec() {
                let (key, name) = (format!("flows.{}.cc", flow.group), &algorithm.name);
                return Err(RunError::NeedsKernel { key, what: format!("{name} runs in a kernel only") });
            }
        }
        match self.sysctls.keys().next() {
            Some(name) => {
                let (key, what) = (format!("kernel.sysctl.{name}"), "the simulation has no sysctls".to_owned());
                Err(RunError::NeedsKernel { key, what })
            }
            None => Ok(()),
        }
    }
}
