"""The exporter's view of pods that were really bound."""

import dataclasses
import threading

from support.active_case import GPUS_PER_NODE
from support.exporter import GIB, Container, Gpu
from support.objects import bound_and_live, gpus_of, name_of, node_of

MIB_OF_A_GPU = 81920


def gpus_of_node(node):
    """Idle ones."""
    return [Gpu(f"GPU-{node}-{index}", node=node, index=index) for index in range(GPUS_PER_NODE)]


class BoundPods(threading.Thread):
    """Keeps the exporter at what the namespace's pods do: each has the GPUs of its node that are free
    when it is bound, and uses them as `use` says for its Job: (GPU %, share of memory, cores).
    """

    def __init__(self, cluster, exporter, use, namespace="default"):
        super().__init__(daemon=True)
        self.cluster, self.exporter, self.use, self.namespace = cluster, exporter, use, namespace
        self.nodes = [name_of(node) for node in cluster.list("node")]
        self.gpus = {}  # pod -> [Gpu]
        self.containers = {}
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            self.look()

    def look(self):
        pods = {name_of(pod): pod for pod in bound_and_live(self.cluster.list("pod", self.namespace))}
        for gone in set(self.gpus) - set(pods):
            del self.gpus[gone], self.containers[gone]
        for name in sorted(set(pods) - set(self.gpus)):
            self.add(name, pods[name])
        used = [gpu for gpus in self.gpus.values() for gpu in gpus]
        taken = {gpu.uuid for gpu in used}
        idle = [gpu for node in self.nodes for gpu in gpus_of_node(node) if gpu.uuid not in taken]
        self.exporter.gpus = used + idle
        self.exporter.containers = list(self.containers.values())

    def add(self, name, pod):
        util, memory, cores = self.use[pod["metadata"]["labels"]["job-name"]]
        node, of_pod = node_of(pod), f"{self.namespace}/{name}"
        taken = {gpu.uuid for gpus in self.gpus.values() for gpu in gpus}
        free = [gpu for gpu in gpus_of_node(node) if gpu.uuid not in taken]
        fb_used = memory * MIB_OF_A_GPU
        self.gpus[name] = [
            dataclasses.replace(gpu, util=util, pod=of_pod, fb_used=fb_used, fb_free=MIB_OF_A_GPU - fb_used)
            for gpu in free[: gpus_of(pod)]
        ]
        self.containers[name] = Container(of_pod, "train", cores=cores, memory=GIB)
