//! The validator's notices as messages of the stream.

use agave_geyser_plugin_interface::geyser_plugin_interface::{
    ReplicaAccountInfoV3, ReplicaTransactionInfoV3, SlotStatus as ReplicaStatus,
};
use yellowstone_grpc_proto::prelude::{
    CompiledInstruction, Message, MessageAddressTableLookup, MessageHeader, SlotStatus, SubscribeUpdateAccount,
    SubscribeUpdateAccountInfo, SubscribeUpdateSlot, SubscribeUpdateTransaction, SubscribeUpdateTransactionInfo,
    Transaction, TransactionError, TransactionStatusMeta, subscribe_update::UpdateOneof,
};

pub fn account(account: &ReplicaAccountInfoV3, slot: u64) -> UpdateOneof {
    UpdateOneof::Account(SubscribeUpdateAccount {
        account: Some(SubscribeUpdateAccountInfo {
            pubkey: account.pubkey.to_vec(),
            lamports: account.lamports,
            owner: account.owner.to_vec(),
            executable: account.executable,
            rent_epoch: account.rent_epoch,
            data: account.data.to_vec(),
            write_version: account.write_version,
            txn_signature: None,
        }),
        slot,
        is_startup: false,
        bank_id: None,
    })
}

pub fn slot(slot: u64, parent: Option<u64>, status: &ReplicaStatus) -> UpdateOneof {
    let (status, dead_error) = match status {
        ReplicaStatus::Processed => (SlotStatus::SlotProcessed, None),
        ReplicaStatus::Confirmed => (SlotStatus::SlotConfirmed, None),
        ReplicaStatus::Rooted => (SlotStatus::SlotFinalized, None),
        ReplicaStatus::FirstShredReceived => (SlotStatus::SlotFirstShredReceived, None),
        ReplicaStatus::Completed => (SlotStatus::SlotCompleted, None),
        ReplicaStatus::CreatedBank => (SlotStatus::SlotCreatedBank, None),
        ReplicaStatus::Dead(error) => (SlotStatus::SlotDead, Some(error.clone())),
    };
    UpdateOneof::Slot(SubscribeUpdateSlot { slot, parent, status: status.into(), dead_error, bank_id: None })
}

/// The part of a transaction that its price and its accounts are read from.
pub fn transaction(info: &ReplicaTransactionInfoV3, slot: u64) -> UpdateOneof {
    let message = &info.transaction.message;
    let header = message.header();
    let loaded = &info.transaction_status_meta.loaded_addresses;
    let keys = |keys: &[_]| keys.iter().map(AsRef::<[u8]>::as_ref).map(<[u8]>::to_vec).collect::<Vec<_>>();
    UpdateOneof::Transaction(SubscribeUpdateTransaction {
        transaction: Some(SubscribeUpdateTransactionInfo {
            signature: info.signature.as_ref().to_vec(),
            is_vote: info.is_vote,
            transaction: Some(Transaction {
                signatures: info.transaction.signatures.iter().map(|one| one.as_ref().to_vec()).collect(),
                message: Some(Message {
                    header: Some(MessageHeader {
                        num_required_signatures: header.num_required_signatures.into(),
                        num_readonly_signed_accounts: header.num_readonly_signed_accounts.into(),
                        num_readonly_unsigned_accounts: header.num_readonly_unsigned_accounts.into(),
                    }),
                    account_keys: keys(message.static_account_keys()),
                    recent_blockhash: message.recent_blockhash().as_ref().to_vec(),
                    instructions: message
                        .instructions()
                        .iter()
                        .map(|one| CompiledInstruction {
                            program_id_index: one.program_id_index.into(),
                            accounts: one.accounts.clone(),
                            data: one.data.clone(),
                        })
                        .collect(),
                    versioned: message.address_table_lookups().is_some(),
                    address_table_lookups: message
                        .address_table_lookups()
                        .unwrap_or_default()
                        .iter()
                        .map(|one| MessageAddressTableLookup {
                            account_key: one.account_key.as_ref().to_vec(),
                            writable_indexes: one.writable_indexes.clone(),
                            readonly_indexes: one.readonly_indexes.clone(),
                        })
                        .collect(),
                    config: None,
                }),
            }),
            meta: Some(TransactionStatusMeta {
                err: info.transaction_status_meta.status.as_ref().err().map(|error| TransactionError {
                    err: error.to_string().into_bytes(),
                }),
                fee: info.transaction_status_meta.fee,
                pre_balances: info.transaction_status_meta.pre_balances.clone(),
                post_balances: info.transaction_status_meta.post_balances.clone(),
                loaded_writable_addresses: keys(&loaded.writable),
                loaded_readonly_addresses: keys(&loaded.readonly),
                ..TransactionStatusMeta::default()
            }),
            index: info.index as u64,
        }),
        slot,
        bank_id: 0,
    })
}
