//! Every update in order, the clients it goes to, and what is kept for replay.

use crate::filter::Filters;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use tokio::sync::mpsc::UnboundedSender;
use yellowstone_grpc_proto::{
    prelude::{SubscribeUpdate, subscribe_update::UpdateOneof},
    tonic::Status,
};

/// Updates of this many slots are kept.
const REPLAY_SLOTS: u64 = 150;

pub type Sender = UnboundedSender<Result<SubscribeUpdate, Status>>;

#[derive(Debug, Default)]
pub struct Hub {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    clients: Vec<Client>,
    kept: VecDeque<(u64, Arc<UpdateOneof>)>,
    next_id: u64,
}

#[derive(Debug)]
struct Client {
    id: u64,
    filters: Filters,
    sender: Sender,
}

impl Client {
    /// False once the client is gone.
    fn send(&self, update: &UpdateOneof) -> bool {
        let filters = self.filters.passed(update);
        if filters.is_empty() {
            return !self.sender.is_closed();
        }
        let message = SubscribeUpdate { filters, created_at: None, update_oneof: Some(update.clone()) };
        self.sender.send(Ok(message)).is_ok()
    }
}

impl Hub {
    /// Sends the update to every client whose filters it passes.
    pub fn publish(&self, slot: u64, update: UpdateOneof) {
        let mut state = self.state.lock().expect("no holder panics");
        state.clients.retain(|client| client.send(&update));
        state.kept.push_back((slot, Arc::new(update)));
        while state.kept.front().is_some_and(|(oldest, _)| oldest + REPLAY_SLOTS < slot) {
            state.kept.pop_front();
        }
    }

    /// A number for a new client.
    pub fn next_id(&self) -> u64 {
        let mut state = self.state.lock().expect("no holder panics");
        state.next_id += 1;
        state.next_id
    }

    /// Sets the filters of a client, and repeats what is kept from a slot on. No update is lost or doubled in between.
    pub fn subscribe(&self, id: u64, filters: Filters, sender: &Sender, from_slot: Option<u64>) -> Result<(), String> {
        let mut state = self.state.lock().expect("no holder panics");
        state.clients.retain(|client| client.id != id);
        let client = Client { id, filters, sender: sender.clone() };
        if let Some(from_slot) = from_slot {
            let oldest = state.kept.front().map_or(u64::MAX, |(slot, _)| *slot);
            if oldest > from_slot {
                return Err(format!("slot {from_slot} is not kept, the oldest is {oldest}"));
            }
            for (slot, update) in &state.kept {
                if *slot >= from_slot {
                    client.send(update);
                }
            }
        }
        state.clients.push(client);
        Ok(())
    }

    pub fn remove(&self, id: u64) {
        self.state.lock().expect("no holder panics").clients.retain(|client| client.id != id);
    }
}
