"""What is measured again and again of a daemon on the real control plane."""

import datetime
import statistics

from support.active import POLICY
from support.bulk import Bindings, create_all
from support.controlplane import ControlPlane, gpu_scheduler_config
from support.daemon import Daemon
from support.objects import gpu_node, waiting_job

LIMITS = {"qps": 2000, "burst": 4000}  # of kube-scheduler's client


def middle(rates):
    """The median of the rounds, and it as text with the least and the most."""
    median = statistics.median(rates)
    return median, f"{median:.0f} ({min(rates):.0f}-{max(rates):.0f})"


def big_cluster(nodes):
    """A cluster of nodes of four GPUs, without kubelets and yet without a scheduler."""
    cluster = ControlPlane(kubelets=False)
    names = [f"node-{index:04}" for index in range(nodes)]
    create_all(cluster, "node", None, [gpu_node(name, 4, "K80", ready=True) for name in names])
    return cluster


def start_daemon(cluster, policy=POLICY):
    """Slackline in active mode; Jobs and pods come as its webhook leaves them."""
    cluster.look_after()
    settings = f'planner: {{policy: "{policy}"}}\n'
    daemon = Daemon(cluster.install_rbac(), cluster.directory, "active", settings=settings)
    cluster.adopt(daemon.process)
    return daemon


def lead(cluster, daemon):
    daemon.start(timeout=60)
    cluster.wait(lambda: daemon.total("slackline_leader") == 1, 30, "the daemon to lead")


def start_extended_scheduler(cluster, daemon):
    config = gpu_scheduler_config(cluster, daemon.extender_url, **LIMITS)
    cluster.start_scheduler(config)


def end_round(cluster, daemon=None):
    """Nobody schedules or plans any more, and nothing of the round is left."""
    cluster.kill("kube-scheduler")
    if daemon:
        daemon.stop()
    for kind in ("job", "pod"):
        cluster.delete_all(kind)


def backlog_of_jobs(cluster, daemon, count):
    """Pods per second of Jobs that all wait suspended when the planner begins."""
    jobs = [waiting_job(f"backlog-{index:03}") for index in range(count)]
    create_all(cluster, "job", "default", jobs)
    cluster.wait(
        lambda: all(job["status"].get("conditions") for job in cluster.list("job", "default")),
        60,
        "the Jobs to be suspended",
    )
    with Bindings(cluster, "default") as bindings:
        start_extended_scheduler(cluster, daemon)
        lead(cluster, daemon)
        bindings.wait(count, 120)
    began = min(wrote_at(cluster, {job["metadata"]["name"] for job in jobs}).values())
    return count / (max(bindings.at.values()) - began)


def wrote_at(cluster, names):
    """When the API server received the PATCH that released each Job."""
    return {
        event["objectRef"]["name"]: datetime.datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
        for event in cluster.audit()
        if event["verb"] == "patch" and event["objectRef"]["resource"] == "jobs" and event["objectRef"]["name"] in names
    }
