//! A Geyser plugin that serves a validator's accounts, slots and transactions as a Yellowstone stream, for tests alone:
//! everything at `processed`, in the order in which the validator reports it.

mod filter;
mod hub;
mod server;
mod update;

use agave_geyser_plugin_interface::geyser_plugin_interface::{
    GeyserPlugin, GeyserPluginError, ReplicaAccountInfoVersions, ReplicaTransactionInfoVersions, Result, SlotStatus,
};
use hub::Hub;
use std::{net::SocketAddr, sync::Arc};
use tokio::runtime::Runtime;

/// The plugin as the validator holds it.
#[derive(Debug, Default)]
struct TestGeyser {
    hub: Arc<Hub>,
    runtime: Option<Runtime>,
}

impl GeyserPlugin for TestGeyser {
    fn name(&self) -> &'static str {
        "test-geyser"
    }

    /// Reads `listen`, an address with its port, from the configuration and serves there.
    fn on_load(&mut self, config_file: &str, _is_reload: bool) -> Result<()> {
        let text = std::fs::read_to_string(config_file)?;
        let address = parse_address(&text).ok_or_else(|| GeyserPluginError::ConfigFileReadError {
            msg: "the configuration has no valid `listen`".to_owned(),
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.block_on(server::serve(address, self.hub.clone()))?;
        self.runtime = Some(runtime);
        Ok(())
    }

    fn on_unload(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    fn update_account(&self, account: ReplicaAccountInfoVersions, slot: u64, is_startup: bool) -> Result<()> {
        if let (false, ReplicaAccountInfoVersions::V0_0_3(account)) = (is_startup, account) {
            self.hub.publish(slot, update::account(account, slot));
        }
        Ok(())
    }

    fn update_slot_status(&self, slot: u64, parent: Option<u64>, status: &SlotStatus) -> Result<()> {
        self.hub.publish(slot, update::slot(slot, parent, status));
        Ok(())
    }

    fn notify_transaction(&self, transaction: ReplicaTransactionInfoVersions, slot: u64) -> Result<()> {
        if let ReplicaTransactionInfoVersions::V0_0_3(transaction) = transaction {
            self.hub.publish(slot, update::transaction(transaction, slot));
        }
        Ok(())
    }

    fn account_data_snapshot_notifications_enabled(&self) -> bool {
        false
    }

    fn transaction_notifications_enabled(&self) -> bool {
        true
    }
}

fn parse_address(config: &str) -> Option<SocketAddr> {
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    config.get("listen")?.as_str()?.parse().ok()
}

/// What the validator calls to get the plugin.
#[unsafe(no_mangle)]
#[allow(improper_ctypes_definitions)]
pub extern "C" fn _create_plugin() -> *mut dyn GeyserPlugin {
    Box::into_raw(Box::new(TestGeyser::default()))
}
