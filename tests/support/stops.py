"""How fast running Jobs make room for others, on a real control plane with KWOK."""

import time

from support.bulk import Bindings, create_all
from support.controlplane import ControlPlane
from support.objects import bound_and_live, gpu_node, gpu_pod, name_of, waiting_job
from support.rates import lead, start_daemon, start_extended_scheduler
from support.runlog import RunLog
from support.watch import Watch

GPUS_PER_NODE = 4
GRACE_S = 1  # of every pod (objects.gpu_pod): it lasts exactly so long
_PROTECT_S = 2
_POLICY = f"default,protect={_PROTECT_S},headroom=0,calm=0,budget=1000"
_LONG = {"slackline.dev/expected-duration": "2h", "slackline.dev/checkpoint-interval": "1s"}
_SOON = {"slackline.dev/expected-duration": "300s"}  # of a deadline in 330 s: it cannot wait


class FullCluster:
    """Nodes that others have taken, but for those of `runs` Jobs that may be stopped; as a context."""

    def __init__(self, nodes, runs):
        self._runs = runs
        self._cluster = ControlPlane()
        names = [f"node-{index:04}" for index in range(nodes)]
        create_all(self._cluster, "node", None, [gpu_node(name, GPUS_PER_NODE, "K80", ready=True) for name in names])
        create_all(self._cluster, "pod", "default", [_filler(name) for name in names[runs:]])
        self.daemon = start_daemon(self._cluster, _POLICY)
        lead(self._cluster, self.daemon)
        start_extended_scheduler(self._cluster, self.daemon)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._cluster.close()

    def stops_at_once_s(self, count):
        """From the first creation of so many Jobs that each need a node to the last of them bound."""

        def burst(bindings):
            return [at for name, at in list(bindings.at.items()) if name.startswith("burst-")]

        self._start_runs()
        with Bindings(self._cluster, "default") as bindings:
            began = time.time()
            create_all(self._cluster, "job", "default", [_soon(f"burst-{index:03}") for index in range(count)])
            self._cluster.wait(lambda: len(burst(bindings)) == count, 60, f"{count} Jobs to be bound")
            took_s = max(burst(bindings)) - began
        return took_s

    def freed_to_bound_s(self, count):
        """Of so many stops, one after another: from the victim's GPUs being free to the asker bound."""
        self._start_runs()
        log = RunLog(GPUS_PER_NODE)
        pods = Watch(self._cluster, "pod", "default", log.saw_pod)
        with pods, Watch(self._cluster, "job", "default", log.saw_job):
            for index in range(count):
                name = f"single-{index:02}"
                create_all(self._cluster, "job", "default", [_soon(name)])
                self._cluster.wait(
                    lambda job=name: log.jobs().get(job) and log.jobs()[job].bound_at, 30, f"{name} bound"
                )
                time.sleep(0.25)
            logs, pods = log.jobs(), log.pods()
        return sorted(_waited_s(logs[f"single-{index:02}"].pods[0], pods) for index in range(count))

    def _start_runs(self):
        """All anew: who has made room three times never does again."""
        self._cluster.delete_all("job", "default")
        self._cluster.wait(lambda: self._running() == 0, 60, "the runs of before to be gone")
        create_all(self._cluster, "job", "default", [_job(f"long-{i:03}", _LONG) for i in range(self._runs)])
        self._cluster.wait(lambda: self._running() == self._runs, 120, f"{self._runs} Jobs to run")
        self._cluster.wait_older(_PROTECT_S)

    def _running(self):
        return sum(
            not name_of(pod).startswith("filler-") for pod in bound_and_live(self._cluster.list("pod", "default"))
        )


def _filler(node):
    """A pod that has taken a whole node."""
    pod = gpu_pod(f"filler-{node}", GPUS_PER_NODE)
    pod["spec"]["nodeName"] = node
    return pod


def _job(name, annotations, **more):
    return waiting_job(name, gpus=GPUS_PER_NODE, annotations=annotations, **more)


def _soon(name):
    return _job(name, _SOON, deadline_after="330s")


def _waited_s(pod, pods):
    """A pod's binding after the end of who was on its node before."""
    return pod.bound_at - max(
        each.ended_at for each in pods if each.node == pod.node and each is not pod and each.ended_at
    )
