"""A cluster of two nodes on this machine, in a process of its own; one is killed when a line comes in."""

import os
import sys
import tempfile
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ.setdefault("RAY_worker_niceness", "0")

from ray.cluster_utils import Cluster


def main() -> None:
    """Prints the address; kills the second node at the first line of standard input, ends all at its end."""
    store = 100 << 20
    Path("/tmp/ray").mkdir(exist_ok=True)  # where the address is written; Ray takes it for granted
    with tempfile.TemporaryDirectory(prefix="attendo-", ignore_cleanup_errors=True) as folder:
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": store, "temp_dir": folder}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            second = cluster.add_node(num_cpus=1, object_store_memory=store)
            cluster.wait_for_nodes()
            print(cluster.address, flush=True)
            if sys.stdin.readline():
                cluster.remove_node(second, allow_graceful=False)
                print("killed", flush=True)
            sys.stdin.read()
        finally:
            cluster.shutdown()


if __name__ == "__main__":
    main()
