"""Reaching Ray: the settings that make a cut link be noticed, the token, and what is said when it cannot be reached.

`ENVIRONMENT` belongs on every node, before `ray start`, as well as here; README.md says how. A variable that is set
already is left alone.
"""

import importlib
import os
import secrets
import socket
from collections.abc import Mapping
from typing import Any

from eds.config import ExecutorSettings
from eds.distribution import install
from eds.errors import InputError, MissingExtraError
from eds.parallel.cores import cores

# Without these a task on a node whose link is cut is waited for without end (measured beyond 300 s; with them 35 s).
ENVIRONMENT = {
    "RAY_grpc_client_keepalive_time_ms": "10000",
    "RAY_grpc_client_keepalive_timeout_ms": "5000",
    "RAY_grpc_keepalive_time_ms": "10000",
    "RAY_grpc_keepalive_timeout_ms": "5000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "5",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
}
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
REACHING = 5.0  # seconds to wait for a head that does not answer
STORE = 100 << 20  # bytes of a local cluster's object store: no result ever lies there
WHERE = "setting executor.cluster"


def connected(settings: ExecutorSettings) -> Any:
    """Ray, joined to the cluster of the settings. It must not have been joined before in this process."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    local = settings.cluster == "local"
    has_token = any(os.environ.get(name) for name in TOKENS)
    if local and not has_token:
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # Ray listens on all addresses: only we may speak to it
    if not local:
        _refuse_unreachable(settings.cluster)
    try:
        ray = importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "executor ray needs the package ray, which is not installed", hint=f"Run: {install('scale')}."
        ) from error
    count = settings.workers * settings.threads or cores()
    here: Mapping[str, Any] = {
        "num_cpus": count,
        "include_dashboard": False,
        "object_store_memory": STORE,
        "_node_ip_address": "127.0.0.1",
    }
    try:
        ray.init(settings.cluster, log_to_driver=False, logging_level="CRITICAL", **(here if local else {}))
    except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        hint = "Use the same Python and Ray on every node, and the same RAY_AUTH_TOKEN: see eds/parallel/README.md."
        what = f"the cluster at {settings.cluster} refuses ({reason})"
        raise InputError(what if has_token or local else "no token is set", where=WHERE, hint=hint) from error
    return ray


def slots(ray: Any, need: Mapping[str, float]) -> int:
    """How many tasks that need so much run at once on the nodes that are alive."""
    names = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
    total = 0
    for node in ray.nodes():
        has = node["Resources"] if node["Alive"] else {}
        fits = [int(has.get(names[kind], 0) // amount) for kind, amount in need.items() if amount]
        total += min(fits, default=0)
    return total


def refuse_too_small(ray: Any, need: Mapping[str, float]) -> None:
    """Raise InputError if no node of the cluster can hold a single task."""
    if not slots(ray, need):
        has = [
            ", ".join(f"{name} {node['Resources'].get(name, 0):g}" for name in ("CPU", "GPU", "memory"))
            for node in ray.nodes()
            if node["Alive"]
        ]
        needed = ", ".join(f"{kind} {amount:g}" for kind, amount in need.items() if amount)
        raise InputError(
            f"no node can hold a task ({needed})",
            where="section [executor]",
            hint="Ask for less, or start such a node.",
            faults=[f"a node has {text}" for text in has],
        )


def _refuse_unreachable(address: str) -> None:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise InputError(f"invalid address {address!r}", where=WHERE, hint="Write local, or host:port, as head:6379.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACHING).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"nothing answers at {address} ({error.strerror if isinstance(error, OSError) else error})",
            where=WHERE,
            hint="Start the cluster (eds/parallel/README.md), correct the address, or use --executor processes.",
        ) from error
