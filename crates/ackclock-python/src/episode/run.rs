//! One run, and the flows of it that agents steer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ackclock::cc::CcSpec;
use ackclock::sim::{FlowId, Plan, Progress, RunError, Simulation};
use ackclock::units::Duration;
use self_cell::self_cell;

use super::agent::{Action, Setting};
use super::observed::{Before, Observed, Scale};

/// A simulation is several hundred bytes, and moves with its plan.
type Steered<'plan> = Box<Simulation<'plan>>;

self_cell!(
    struct Planned {
        owner: Plan,
        #[not_covariant]
        dependent: Steered,
    }
);

/// The steps of runs, and their observations.
pub struct Rules {
    /// Length of a step.
    pub step: Duration,
    /// The meaning of actions.
    pub action: Action,
    /// Indices of [`TERMS`](super::observed::TERMS).
    pub observation: Vec<usize>,
    /// A weight for each of [`TERMS`](super::observed::TERMS).
    pub reward: Vec<f64>,
}

/// Where a step of one run writes: a row and a number for each agent.
pub struct Out<'a> {
    pub observations: &'a mut [f32],
    pub rewards: &'a mut [f64],
}

/// A flow that an agent steers.
struct Steering {
    /// Index in [`Plan::flows`].
    flow: FlowId,
    setting: Arc<Setting>,
    scale: Scale,
    before: Before,
}

/// A run, and the flows that agents steer.
pub struct Episode {
    run: Planned,
    agents: Vec<Steering>,
    /// The transfers of all agents are complete.
    is_done: bool,
    /// No further step is possible.
    has_ended: bool,
}

impl Episode {
    /// A run at its start, in which agents control the flows of these groups. An impossible run gives the reason.
    pub fn new(mut plan: Plan, groups: &[String]) -> Result<Self, String> {
        plan.sampling.interval = None;
        let rate = plan.links[plan.bottleneck].rate.ok_or("the bottleneck has no rate")?;
        let mut agents = Vec::new();
        for (index, flow) in plan.flows.iter_mut().enumerate() {
            if groups.iter().any(|group| **group == *flow.group) {
                let setting = Setting::new(flow.cc_context.initial_window);
                flow.cc = Arc::new(setting.algorithm());
                let scale = Scale::of(flow, rate.as_bps() as f64);
                agents.push(Steering { flow: FlowId::new(index), setting, scale, before: Before::default() });
            }
        }
        plan.check_simulated().map_err(|error| error.to_string())?;
        let outside = |spec: &CcSpec| spec.is_foreign();
        if let Some(flow) = plan.tcp_flows().find(|flow| flow.cc.spec().is_some_and(outside)) {
            let group = &flow.group;
            return Err(format!(
                "flows.{group}.cc is a class, a shared object or an eBPF program. With agents, use built-in algorithms or rule text"
            ));
        }
        let run = Planned::new(plan, |plan| Box::new(Simulation::new(plan)));
        Ok(Episode { run, agents, is_done: false, has_ended: false })
    }

    /// Names of the flows that agents steer.
    pub fn names(&self) -> Vec<String> {
        let flows = &self.run.borrow_owner().flows;
        self.agents.iter().map(|agent| flows[agent.flow].name.to_string()).collect()
    }

    /// Whether the transfers of all agents are complete, and whether no further step is possible.
    pub fn end(&self) -> (bool, bool) {
        (self.is_done, self.has_ended)
    }

    /// The time of the run in seconds.
    pub fn now_s(&mut self) -> f64 {
        self.run.with_dependent_mut(|_, run| run.now().as_secs_f64())
    }

    /// Takes an action for each agent, and advances by a step. A run that has ended does not change, and writes
    /// nothing.
    pub fn step(&mut self, rules: &Rules, actions: &[f32], out: &mut Out<'_>) -> Result<(), RunError> {
        if self.has_ended {
            return Ok(());
        }
        let agents = &self.agents;
        let stepped = self.run.with_dependent_mut(|_, run| {
            for (agent, &action) in agents.iter().zip(actions) {
                agent.setting.act(rules.action, f64::from(action), &agent.scale);
                run.refresh_flow(agent.flow).expect("invariant: no step is interrupted");
            }
            let before = run.now();
            let progress = run.step(before + rules.step, &AtomicBool::new(false))?;
            Ok((run.now().since(before).as_secs_f64(), progress))
        });
        // After an error there is no way on.
        self.has_ended = true;
        let (step_s, progress) = stepped?;
        self.is_done = self.observe(rules, step_s, out);
        self.has_ended = self.is_done || progress == Progress::Ended;
        Ok(())
    }

    /// Writes the observations. Returns true if the transfers of all agents are complete.
    pub fn observe(&mut self, rules: &Rules, step_s: f64, out: &mut Out<'_>) -> bool {
        let agents = &mut self.agents;
        self.run.with_dependent_mut(|plan, run| {
            let link = run.link(plan.bottleneck);
            let time = run.now().as_secs_f64() / plan.duration.as_secs_f64();
            let rows = out.observations.chunks_mut(rules.observation.len());
            let mut are_done = true;
            for ((agent, row), reward) in agents.iter_mut().zip(rows).zip(&mut *out.rewards) {
                let flow = run.flow(agent.flow);
                let observed =
                    Observed { flow: &flow, link: &link, before: agent.before, scale: agent.scale, step_s, time };
                let values = observed.values();
                for (place, &index) in row.iter_mut().zip(&rules.observation) {
                    *place = values[index] as f32;
                }
                *reward = values.iter().zip(&rules.reward).map(|(value, weight)| value * weight).sum();
                agent.before = Before::of(&flow);
                are_done &= flow.finished.is_some();
            }
            are_done
        })
    }
}
