//! The stream's service. Calls beside `Subscribe` and `Ping` are not served.

use crate::{
    filter::Filters,
    hub::{Hub, Sender},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
};
use tokio_stream::wrappers::{TcpListenerStream, UnboundedReceiverStream};
use yellowstone_grpc_proto::{
    geyser::{
        GetBlockHeightRequest, GetBlockHeightResponse, GetLatestBlockhashRequest, GetLatestBlockhashResponse,
        GetSlotRequest, GetSlotResponse, GetVersionRequest, GetVersionResponse, IsBlockhashValidRequest,
        IsBlockhashValidResponse, PingRequest, PongResponse, SubscribeDeshredRequest, SubscribeGossipRequest,
        SubscribeReplayInfoRequest, SubscribeReplayInfoResponse, SubscribeRequest, SubscribeUpdate,
        SubscribeUpdateDeshred, SubscribeUpdateGossip, SubscribeUpdatePong,
        geyser_server::{Geyser, GeyserServer},
        subscribe_update::UpdateOneof,
    },
    tonic::{Request, Response, Status, Streaming, transport::Server},
};

/// Listens on the address, and serves in the background.
pub async fn serve(address: SocketAddr, hub: Arc<Hub>) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let service = GeyserServer::new(TestServer { hub });
    tokio::spawn(Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener)));
    Ok(())
}

struct TestServer {
    hub: Arc<Hub>,
}

type Updates<T> = UnboundedReceiverStream<Result<T, Status>>;

#[yellowstone_grpc_proto::tonic::async_trait]
impl Geyser for TestServer {
    type SubscribeStream = Updates<SubscribeUpdate>;
    type SubscribeDeshredStream = Updates<SubscribeUpdateDeshred>;
    type SubscribeGossipStream = Updates<SubscribeUpdateGossip>;

    async fn subscribe(
        &self,
        request: Request<Streaming<SubscribeRequest>>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let (sender, receiver): (Sender, UnboundedReceiver<_>) = unbounded_channel();
        tokio::spawn(follow(self.hub.clone(), request.into_inner(), sender));
        Ok(Response::new(UnboundedReceiverStream::new(receiver)))
    }

    async fn ping(&self, request: Request<PingRequest>) -> Result<Response<PongResponse>, Status> {
        Ok(Response::new(PongResponse { count: request.into_inner().count }))
    }

    async fn subscribe_deshred(
        &self,
        _: Request<Streaming<SubscribeDeshredRequest>>,
    ) -> Result<Response<Self::SubscribeDeshredStream>, Status> {
        Err(not_served())
    }

    async fn subscribe_gossip(
        &self,
        _: Request<SubscribeGossipRequest>,
    ) -> Result<Response<Self::SubscribeGossipStream>, Status> {
        Err(not_served())
    }

    async fn subscribe_replay_info(
        &self,
        _: Request<SubscribeReplayInfoRequest>,
    ) -> Result<Response<SubscribeReplayInfoResponse>, Status> {
        Err(not_served())
    }

    async fn get_latest_blockhash(
        &self,
        _: Request<GetLatestBlockhashRequest>,
    ) -> Result<Response<GetLatestBlockhashResponse>, Status> {
        Err(not_served())
    }

    async fn get_block_height(
        &self,
        _: Request<GetBlockHeightRequest>,
    ) -> Result<Response<GetBlockHeightResponse>, Status> {
        Err(not_served())
    }

    async fn get_slot(&self, _: Request<GetSlotRequest>) -> Result<Response<GetSlotResponse>, Status> {
        Err(not_served())
    }

    async fn is_blockhash_valid(
        &self,
        _: Request<IsBlockhashValidRequest>,
    ) -> Result<Response<IsBlockhashValidResponse>, Status> {
        Err(not_served())
    }

    async fn get_version(&self, _: Request<GetVersionRequest>) -> Result<Response<GetVersionResponse>, Status> {
        Err(not_served())
    }
}

fn not_served() -> Status {
    Status::unimplemented("not served by the plugin for tests")
}

/// Takes a client's requests until it leaves. Each replaces the one before.
async fn follow(hub: Arc<Hub>, mut requests: Streaming<SubscribeRequest>, sender: Sender) {
    let id = hub.next_id();
    while let Ok(Some(request)) = requests.message().await {
        if let Some(ping) = request.ping {
            let pong = UpdateOneof::Pong(SubscribeUpdatePong { id: ping.id });
            let _ = sender.send(Ok(SubscribeUpdate { filters: vec![], created_at: None, update_oneof: Some(pong) }));
            continue;
        }
        let from_slot = request.from_slot;
        let subscribed = Filters::parse(request).and_then(|filters| hub.subscribe(id, filters, &sender, from_slot));
        if let Err(problem) = subscribed {
            let _ = sender.send(Err(Status::invalid_argument(problem)));
            break;
        }
    }
    hub.remove(id);
}
