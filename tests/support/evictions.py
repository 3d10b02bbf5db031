"""Generated cases of preemption on the real kube-scheduler: what was evicted, and what that lost.

A case is a few full nodes of its own and one preemptor that fits nowhere. Some of the pods there are
gangs over several nodes: who evicts one member makes all of them lose their work. The cases of one
run stand side by side in one cluster: each preemptor may go to the nodes of its case alone.
"""

import datetime
import json
import random
import time
from dataclasses import dataclass, field, replace

from support.bulk import create_all, send_all
from support.controlplane import stock_scheduler_config
from support.objects import gpu_node, gpu_pod, node_of, priority_class
from support.rates import LIMITS, lead, start_daemon, start_extended_scheduler

NODES, GPUS = 4, 8  # of a case
GANGS, GANG_GPUS = 2, 4  # of a case at most, of a member at most
PRIORITIES = {"low": 100, "middle": 200}
PREEMPTOR = ("high", 1000)
HOUR_S = 3600
QUIET_S = 600  # no checkpoint falls due in so long after the generation: what is lost only grows


@dataclass
class Running:
    """A pod that runs when the preemptor comes."""

    name: str
    node: str
    gpus: int
    priority: str
    age_s: int
    checkpoint_s: int | None  # None: it writes no checkpoints and is not Slackline's
    protected: bool  # by the PodDisruptionBudget of its case
    gang: str | None = None  # the pods of a gang differ in name and node alone

    def lost_gpu_s(self, later_s):
        """Since its last checkpoint, or since its start, if it is evicted so long after lay_out()."""
        age_s = self.age_s + later_s
        return self.gpus * (age_s % self.checkpoint_s if self.checkpoint_s else age_s)

    def manifest(self, case):
        notes = {"slackline.dev/checkpoint-interval": f"{self.checkpoint_s}s"} if self.checkpoint_s else {}
        pod = _pod(self.name, self.gpus, self.priority, notes, case)
        if self.protected:
            pod["metadata"]["labels"]["protected"] = case
        if self.gang:
            pod["metadata"]["labels"]["slackline.dev/gang"] = self.gang
        pod["spec"]["nodeName"] = self.node
        return pod

    def status(self, now):
        started = (now - datetime.timedelta(seconds=self.age_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": started}
        return {"status": {"phase": "Running", "startTime": started, "conditions": [ready]}}


@dataclass
class Case:
    name: str
    gpus: int  # of the preemptor
    allowed: int  # disruptions of protected pods
    pods: list = field(default_factory=list)

    def nodes(self):
        return [f"{self.name}-{index}" for index in range(NODES)]

    def lost_gpu_h(self, evicted, later_s):
        """Of the evicted pods, and of all members of their gangs."""
        broken = {pod.gang for pod in self.pods if pod.name in evicted} - {None}
        lost = [pod for pod in self.pods if pod.name in evicted or pod.gang in broken]
        return sum(pod.lost_gpu_s(later_s) for pod in lost) / HOUR_S

    def violations(self, evicted):
        """Evictions beyond what the budget allows."""
        return max(0, sum(pod.protected and pod.name in evicted for pod in self.pods) - self.allowed)


def generate(count, seed):
    """Full nodes: two priorities, 40 % of the tasks with checkpoints, a fifth under a budget; up to two gangs."""
    chance = random.Random(seed)
    cases = []
    for index in range(count):
        case = Case(f"case-{index:03}", chance.randint(1, GPUS), chance.randint(0, 1))
        left = dict.fromkeys(case.nodes(), GPUS)
        for number in range(chance.randint(0, GANGS)):
            nodes = chance.sample(case.nodes(), chance.randint(2, NODES))
            most = min(GANG_GPUS, *(left[node] for node in nodes))
            if most:
                gang = _running(chance, chance.randint(1, most))
                _place(case, replace(gang, gang=f"{case.name}-gang-{number}"), nodes, left)
        for node in case.nodes():
            while left[node]:
                _place(case, _running(chance, chance.randint(1, left[node])), [node], left)
        cases.append(case)
    return cases


def _place(case, pod, nodes, left):
    """One such pod on each of the nodes."""
    for node in nodes:
        case.pods.append(replace(pod, name=f"{case.name}-{len(case.pods):02}", node=node))
        left[node] -= pod.gpus


def _running(chance, gpus):
    checkpoint_s = 60 * chance.randint(10, 60) if chance.random() < 0.4 else None
    age_s = chance.randint(0, 24 * HOUR_S)
    if checkpoint_s:
        age_s -= min(age_s % checkpoint_s, QUIET_S) if checkpoint_s - age_s % checkpoint_s < QUIET_S else 0
    priority = chance.choice(sorted(PRIORITIES))
    return Running("", "", gpus, priority, age_s, checkpoint_s, chance.random() < 0.2)


def lay_out(cluster, cases):
    """The nodes, their pods as they run, and the budgets, with what they allow counted; the time then."""
    for name, value in [*PRIORITIES.items(), PREEMPTOR]:
        if not cluster.get("priorityclass", None, name):
            cluster.apply([priority_class(name, value)])
    nodes = [gpu_node(name, GPUS, "K80", ready=True) for case in cases for name in case.nodes()]
    for node in nodes:
        node["metadata"]["labels"]["case"] = node["metadata"]["name"].rpartition("-")[0]
    create_all(cluster, "node", None, nodes)
    create_all(cluster, "pod", "default", [pod.manifest(case.name) for case in cases for pod in case.pods])
    now = datetime.datetime.now(datetime.UTC)
    path = cluster.collection("pod", "default")
    patches = [
        ("PATCH", f"{path}/{pod.name}/status", json.dumps(pod.status(now))) for case in cases for pod in case.pods
    ]
    send_all(cluster, patches, (200,), "application/merge-patch+json")
    budgets = [budget for case in cases if (budget := _budget(case))]
    cluster.apply(budgets)
    allowed = {each["metadata"]["name"]: int(each["metadata"]["annotations"]["allowed"]) for each in budgets}

    def counted():
        seen = {each["metadata"]["name"]: each["status"] for each in cluster.list("poddisruptionbudget", "default")}
        return all(seen[name].get("disruptionsAllowed") == count for name, count in allowed.items())

    cluster.wait(counted, 60, "the budgets to be counted")
    return now.timestamp()


def evict(cluster, cases):
    """{case: names of the evicted pods}, once every preemptor is bound."""
    create_all(cluster, "pod", "default", [_preemptor(case) for case in cases])

    def bound():
        pods = {pod["metadata"]["name"]: pod for pod in cluster.list("pod", "default")}
        return all(node_of(pods[f"{case.name}-preemptor"]) for case in cases)

    cluster.wait(bound, 180, f"{len(cases)} preemptors to be bound")
    left = {pod["metadata"]["name"] for pod in cluster.list("pod", "default")}
    return {case.name: {pod.name for pod in case.pods} - left for case in cases}


def play(cluster, cases, say=lambda line: None):
    """(evicted by kube-scheduler alone, evicted with Slackline, seconds from lay_out() to the latter's eviction)."""
    say(f"{len(cases)} preemptors, kube-scheduler alone: making their nodes and victims")
    lay_out(cluster, cases)
    cluster.start_scheduler(stock_scheduler_config(cluster, **LIMITS))
    stock = evict(cluster, cases)
    cluster.kill("kube-scheduler")
    clear(cluster)
    say(f"{len(cases)} preemptors, with Slackline: making their nodes and victims")
    laid_out = lay_out(cluster, cases)
    daemon = start_daemon(cluster)
    lead(cluster, daemon)
    start_extended_scheduler(cluster, daemon)
    later_s = time.time() - laid_out
    ours = evict(cluster, cases)
    asked = daemon.total("slackline_extender_requests_total", verb="preempt")
    assert asked >= len(cases), f"Slackline was asked about {asked:.0f} of {len(cases)} preemptors"
    return stock, ours, later_s


def clear(cluster):
    for kind in ("pod", "poddisruptionbudget"):
        cluster.delete_all(kind)
    cluster.delete_all("node", None)


def _preemptor(case):
    pod = _pod(f"{case.name}-preemptor", case.gpus, PREEMPTOR[0], {}, case.name)
    pod["spec"]["nodeSelector"] = {"case": case.name}
    return pod


def _pod(name, gpus, priority, notes, case):
    pod = gpu_pod(name, gpus, annotations=notes, priority_class=priority)
    pod["metadata"]["labels"] = {"case": case}
    pod["spec"]["terminationGracePeriodSeconds"] = 0
    return pod


def _budget(case):
    protected = sum(pod.protected for pod in case.pods)
    if protected == 0:
        return None
    allowed = min(case.allowed, protected)
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": case.name, "namespace": "default", "annotations": {"allowed": str(allowed)}},
        "spec": {"minAvailable": protected - allowed, "selector": {"matchLabels": {"protected": case.name}}},
    }
