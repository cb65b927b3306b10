//! What a client asked for, and which updates pass.

use std::collections::{HashMap, HashSet};
use yellowstone_grpc_proto::prelude::{
    CommitmentLevel, SlotStatus, SubscribeRequest, SubscribeRequestFilterAccounts, SubscribeRequestFilterSlots,
    SubscribeRequestFilterTransactions, SubscribeUpdateAccount, SubscribeUpdateSlot, SubscribeUpdateTransaction,
    subscribe_update::UpdateOneof,
};

/// The filters of one request, by name.
#[derive(Debug, Default)]
pub struct Filters {
    accounts: HashMap<String, Keys>,
    owners: HashMap<String, Keys>,
    slots: HashMap<String, SubscribeRequestFilterSlots>,
    transactions: HashMap<String, (SubscribeRequestFilterTransactions, Keys)>,
}

type Keys = HashSet<Vec<u8>>;

impl Filters {
    /// Fails for what this server does not serve: another commitment, and keys that are none.
    pub fn parse(request: SubscribeRequest) -> Result<Self, String> {
        if request.commitment.is_some_and(|level| level != CommitmentLevel::Processed as i32) {
            return Err("only the commitment `processed` is served".to_owned());
        }
        let mut filters = Self { slots: request.slots, ..Self::default() };
        for (name, SubscribeRequestFilterAccounts { account, owner, .. }) in request.accounts {
            filters.accounts.insert(name.clone(), parse_keys(&account)?);
            filters.owners.insert(name, parse_keys(&owner)?);
        }
        for (name, filter) in request.transactions {
            let keys = parse_keys(&filter.account_include)?;
            filters.transactions.insert(name, (filter, keys));
        }
        Ok(filters)
    }

    /// Names of the filters that let the update pass.
    pub fn passed(&self, update: &UpdateOneof) -> Vec<String> {
        match update {
            UpdateOneof::Account(update) => self.passed_by_account(update),
            UpdateOneof::Slot(update) => self.passed_by_slot(update),
            UpdateOneof::Transaction(update) => self.passed_by_transaction(update),
            _ => Vec::new(),
        }
    }

    fn passed_by_account(&self, update: &SubscribeUpdateAccount) -> Vec<String> {
        let Some(account) = &update.account else { return Vec::new() };
        let wants = |name: &String, keys: &Keys| {
            let owners = &self.owners[name];
            let is_open = keys.is_empty() && owners.is_empty();
            is_open || keys.contains(&account.pubkey) || owners.contains(&account.owner)
        };
        names(&self.accounts, wants)
    }

    fn passed_by_slot(&self, update: &SubscribeUpdateSlot) -> Vec<String> {
        let status = update.status();
        let is_commitment =
            matches!(status, SlotStatus::SlotProcessed | SlotStatus::SlotConfirmed | SlotStatus::SlotFinalized);
        names(&self.slots, |_, filter| {
            let isolated = filter.filter_by_commitment();
            let is_wanted = if isolated { status == SlotStatus::SlotProcessed } else { is_commitment };
            is_wanted || (filter.interslot_updates() && !is_commitment)
        })
    }

    fn passed_by_transaction(&self, update: &SubscribeUpdateTransaction) -> Vec<String> {
        let Some(info) = &update.transaction else { return Vec::new() };
        let message = info.transaction.as_ref().and_then(|transaction| transaction.message.as_ref());
        let statics = message.map(|message| message.account_keys.as_slice()).unwrap_or_default();
        let meta = info.meta.clone().unwrap_or_default();
        let loaded = meta.loaded_writable_addresses.iter().chain(&meta.loaded_readonly_addresses);
        let named: Keys = statics.iter().chain(loaded).cloned().collect();
        names(&self.transactions, |_, (filter, keys)| {
            filter.vote.is_none_or(|vote| vote == info.is_vote)
                && filter.failed.is_none_or(|failed| failed == meta.err.is_some())
                && (keys.is_empty() || !keys.is_disjoint(&named))
        })
    }
}

fn names<T>(filters: &HashMap<String, T>, wants: impl Fn(&String, &T) -> bool) -> Vec<String> {
    filters.iter().filter(|(name, filter)| wants(name, filter)).map(|(name, _)| name.clone()).collect()
}

fn parse_keys(texts: &[String]) -> Result<Keys, String> {
    texts.iter().map(|text| decode_base58(text).ok_or_else(|| format!("{text} is not a key"))).collect()
}

const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Bytes of a key of 32 bytes.
fn decode_base58(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0u8; 32];
    for character in text.bytes() {
        let mut carry = ALPHABET.iter().position(|&one| one == character)?;
        for byte in bytes.iter_mut().rev() {
            carry += usize::from(*byte) * 58;
            *byte = (carry % 256) as u8;
            carry /= 256;
        }
        if carry > 0 {
            return None;
        }
    }
    Some(bytes)
}
