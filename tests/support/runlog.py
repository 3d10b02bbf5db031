"""What happened to the Jobs of a run, read from watches on Jobs and pods.

Everything is timed by when the event was read, in epoch seconds. Pods tell when a Job runs and
ends; the Job's own status comes a second late.
"""

import json
import threading
from dataclasses import dataclass, field, replace

from support.objects import gpus_of, has_ended, name_of, node_of, phase_of

JOB_LABEL = "batch.kubernetes.io/job-name"


@dataclass
class PodLog:
    job: str
    gpus: int
    env: dict
    node: str = ""
    bound_at: float = 0
    ended_at: float = 0
    succeeded: bool = False
    leaving: bool = False  # its deletion has begun; its GPUs are taken until it has ended


@dataclass
class JobLog:
    submitted_at: float = 0
    released_at: float = 0  # 0: never held back
    plan: dict = field(default_factory=dict)
    pods: list = field(default_factory=list)  # of its last release, not deleted unbound
    stopped_at: list = field(default_factory=list)  # each time it made room for another one
    past_waits: list = field(default_factory=list)  # (since, bound at) of its earlier attempts
    told: list = field(default_factory=list)  # (when, annotation `forecast`), each that was another one

    @property
    def bound_at(self):
        """All of its pods are on nodes; 0: not yet."""
        times = [pod.bound_at for pod in self.pods]
        return max(times) if times and all(times) else 0

    @property
    def waits(self):
        """(since, bound at) of every attempt that was bound."""
        since = self.stopped_at[-1] if self.stopped_at else self.submitted_at
        return self.past_waits + ([(since, self.bound_at)] if self.bound_at else [])

    @property
    def finished_at(self):
        """All of its pods have succeeded; 0: not yet."""
        times = [pod.ended_at for pod in self.pods if pod.succeeded]
        return max(times) if times and len(times) == len(self.pods) else 0


class RunLog:
    """The books of one run. `saw_job`, `saw_pod` are callbacks of watches; questions: any thread."""

    def __init__(self, gpus_per_node):
        self._lock = threading.Lock()
        self._room = gpus_per_node
        self._jobs = {}
        self._pods = {}
        self._wanted = {}  # by Job: how many pods it has in its present shape
        self._complete = set()  # Jobs, by their own status
        self.overcommitted = []  # "node-1 has 5 GPUs taken", as they happened

    def submitted(self, job, when):
        with self._lock:
            self._jobs.setdefault(job, JobLog()).submitted_at = when

    def saw_job(self, when, job):
        with self._lock:
            log = self._jobs.setdefault(name_of(job), JobLog())
            notes = job["metadata"].get("annotations", {})
            if _stops(notes) > len(log.stopped_at):
                log.past_waits = log.waits
                log.stopped_at.append(when)
            forecast = notes.get("slackline.dev/forecast")
            if forecast and (not log.told or log.told[-1][1] != forecast):
                log.told.append((when, forecast))
            self._wanted[name_of(job)] = job["spec"]["parallelism"]
            if job.get("status", {}).get("completionTime"):
                self._complete.add(name_of(job))
            plan = notes.get("slackline.dev/plan")
            if plan and not job["spec"].get("suspend") and json.loads(plan) != log.plan:
                log.released_at, log.plan = when, json.loads(plan)

    def saw_pod(self, when, pod):
        name = pod["metadata"].get("labels", {}).get(JOB_LABEL)
        if not name:
            return
        with self._lock:
            log = self._pods.get(pod["metadata"]["uid"])
            if log is None:
                log = PodLog(name, gpus_of(pod), _shape_env(pod))
                self._pods[pod["metadata"]["uid"]] = log
                self._jobs.setdefault(name, JobLog()).pods.append(log)
            if node_of(pod) and not log.bound_at:
                log.node, log.bound_at = node_of(pod), when
                self._check_room(log.node)
            if has_ended(pod) and not log.ended_at:
                log.ended_at, log.succeeded = when, phase_of(pod) == "Succeeded"
                if log.leaving and log.succeeded:  # it was done before it was told to end: it counts for its Job
                    log.leaving = False
                    self._jobs[log.job].pods.append(log)
            leaves = pod.get("gone") or pod["metadata"].get("deletionTimestamp")
            if leaves and not log.succeeded and not log.leaving:
                log.leaving = True
                self._jobs[log.job].pods.remove(log)
            if pod.get("gone") and log.bound_at and not log.ended_at:
                log.ended_at = when

    def jobs(self):
        """{name: JobLog}; those whose pods are not all there yet are neither bound nor finished."""
        with self._lock:
            return {name: self._copy(name, log) for name, log in self._jobs.items()}

    def complete(self):
        """How many Jobs are complete by their own status."""
        with self._lock:
            return len(self._complete)

    def pods(self):
        with self._lock:
            return list(self._pods.values())

    def _copy(self, name, log):
        whole = len(log.pods) == self._wanted.get(name, 0)
        pods = list(log.pods) if whole else []
        return replace(log, pods=pods)

    def _check_room(self, node):
        there = [pod for pod in self._pods.values() if pod.node == node and not pod.ended_at]
        taken = sum(pod.gpus for pod in there)
        if taken > self._room:
            self.overcommitted.append(f"{node} has {taken} GPUs taken")


def _stops(notes):
    return json.loads(notes.get("slackline.dev/preemptions", '{"count": 0}'))["count"]


def _shape_env(pod):
    """The variables that read an annotation (the downward API), as a kubelet would fill them."""
    notes = pod["metadata"].get("annotations", {})
    found = {}
    for variable in pod["spec"]["containers"][0].get("env", []):
        path = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "")
        if path.startswith("metadata.annotations['"):
            found[variable["name"]] = notes.get(path[len("metadata.annotations['") : -2], "")
    return found
