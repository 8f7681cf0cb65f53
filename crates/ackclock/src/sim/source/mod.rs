//! Traffic: which source sends how much, and when.
//!
//! An [`Application`] writes into a TCP sender, [`Arrivals`] open one transfer after the other, an [`Emitter`] sends
//! datagrams. Each is called with the time, and returns when it wants to be called again.

mod abr;
mod arrivals;
mod cbr;
mod client;
mod emitter;
mod interactive;
mod on_off;
mod page;
mod video;
mod web;
mod writer;

pub use abr::Player;
pub use arrivals::Arrivals;
pub use client::{Client, User};
pub use emitter::{Burst, Emitter};
pub use interactive::Interactive;
pub use page::Page;
pub use video::Video;
pub use web::Web;
pub use writer::Writer;

use super::plan::{FlowPlan, Stack};
use super::traffic::Traffic;
use crate::rng::RngStreams;
use crate::sim::endpoint::SendingEnd;
use crate::units::Instant;

/// The application that writes into a TCP sender.
#[derive(Clone, Debug)]
pub enum Application {
    /// Writes by itself.
    Writer(Writer),
    /// Responds to the requests of a client at the receiver.
    Client(Box<Client>),
    /// Writes a little from time to time, and measures its delay.
    Interactive(Box<Interactive>),
    /// Produces frames at the rate of the transport, and shows them.
    Video(Box<Video>),
    /// A slot: others open it.
    Slot,
    /// The ends of the flow are outside of the simulation.
    None,
}

impl Application {
    /// The application of a flow, before it starts.
    pub fn new(flow: &FlowPlan, rngs: &RngStreams) -> Self {
        if flow.stack == Stack::Outside {
            return Application::None;
        }
        match &flow.traffic {
            Traffic::Slot => Application::Slot,
            Traffic::Web(plan) => {
                let user = User::Web(Web::new(plan, flow, rngs));
                Application::Client(Box::new(Client::new(user, plan.request, flow)))
            }
            Traffic::Page(plan) => {
                let user = User::Page(Page::new(plan, flow, rngs));
                Application::Client(Box::new(Client::new(user, plan.request, flow)))
            }
            Traffic::Abr(plan) => {
                let user = User::Player(Player::new(plan, flow));
                Application::Client(Box::new(Client::new(user, plan.request, flow)))
            }
            Traffic::Interactive(plan) => Application::Interactive(Box::new(Interactive::new(plan, flow, rngs))),
            Traffic::Video(plan) => Application::Video(Box::new(Video::new(plan, flow, rngs))),
            Traffic::Bulk | Traffic::Transfer { .. } | Traffic::RateLimited { .. } => {
                Application::Writer(Writer::new(flow))
            }
        }
    }

    /// When it does something next.
    pub fn next_deadline(&self) -> Option<Instant> {
        match self {
            Application::Writer(writer) => writer.next_deadline(),
            Application::Client(client) => client.next_deadline(),
            Application::Interactive(interactive) => interactive.next_deadline(),
            Application::Video(video) => video.next_deadline(),
            Application::Slot | Application::None => None,
        }
    }

    /// Processes the work due at `now`. Returns the number of a request to send from the receiver's side, if one is
    /// due.
    pub fn on_deadline(&mut self, now: Instant, sender: &mut SendingEnd) -> Option<u64> {
        match self {
            Application::Writer(writer) => {
                writer.on_deadline(now, sender);
                None
            }
            Application::Client(client) => client.on_deadline(now, sender),
            Application::Interactive(interactive) => {
                interactive.on_deadline(now, sender);
                None
            }
            Application::Video(video) => {
                video.on_deadline(now, sender);
                None
            }
            Application::Slot | Application::None => None,
        }
    }

    /// Nothing is written from `now` on.
    pub fn stop(&mut self, now: Instant) {
        match self {
            Application::Writer(writer) => writer.stop(now),
            Application::Client(client) => client.stop(now),
            Application::Interactive(interactive) => interactive.stop(),
            Application::Video(video) => video.stop(),
            Application::Slot | Application::None => {}
        }
    }

    /// Whether a flow has ended once everything that it wrote is acknowledged.
    pub fn ends(&self) -> bool {
        !matches!(self, Application::Client(_) | Application::Interactive(_) | Application::Video(_))
    }
}
