"""Asks a service for its priority levels over gRPC, with a typed client generated from proto.

    pip install -r requirements.txt
    python -m grpc_tools.protoc -I ../../proto --python_out=. --grpc_python_out=. ../../proto/{buf/validate,tradewire/v1}/*.proto
    TRADEWIRE_URL=http://127.0.0.1:8080 python priorities.py

In an environment without the package of clients/python, whose name is tradewire too: it would be imported instead.
"""

import os
from urllib.parse import urlsplit

import grpc

from tradewire.v1 import trade_pb2, trade_pb2_grpc, types_pb2

with grpc.insecure_channel(urlsplit(os.environ["TRADEWIRE_URL"]).netloc) as channel:
    trades = trade_pb2_grpc.TradeServiceStub(channel)
    response = trades.GetPriority(trade_pb2.GetPriorityRequest(), timeout=10)

for level in response.levels:
    print(types_pb2.Priority.Name(level.priority), level.expected_cost)
