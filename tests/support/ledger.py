"""Who held which GPUs at every moment, in the API server's own order of events.

All kinds of objects share one counter of versions (etcd's revision), so what two watches saw can be
put into the one order in which it happened.
"""

import json
import threading
from dataclasses import dataclass

from support.objects import gpus_of, has_ended, name_of, node_of
from support.watch import Watch


@dataclass
class _Pod:
    name: str
    job: str  # its uid
    gpus: int
    bound: str  # to this node, or ""
    nominated: str
    leaving: bool  # its deletion has begun
    over: bool  # has ended, or is gone


@dataclass
class _Job:
    suspended: bool


class GpuLedger:
    """Follows the Jobs and pods of a namespace, as a context. Questions: any thread, also afterwards."""

    def __init__(self, cluster, namespace="default"):
        self._lock = threading.Lock()
        self._events = []  # (version, uid, _Pod or _Job)
        self._stops = {}
        self._bound = set()
        self._watches = [
            Watch(cluster, "pod", namespace, self._saw_pod),
            Watch(cluster, "job", namespace, self._saw_job),
        ]

    def __enter__(self):
        for watch in self._watches:
            watch.__enter__()
        return self

    def __exit__(self, *arguments):
        for watch in self._watches:
            watch.__exit__(*arguments)
            watch.check()

    def stops(self):
        """{Job: how often it made room}, without those that never did."""
        with self._lock:
            return dict(self._stops)

    def bound(self, prefix):
        """How many pods of that prefix have been bound so far."""
        with self._lock:
            return sum(name.startswith(prefix) for name in self._bound)

    def given_twice(self, gpus_per_node):
        """Each moment in which a node had given or promised more GPUs than it has, in words.

        Given: to bound pods that have not ended. Promised: to nominated pods, beside the bound ones
        that nobody has asked to end.
        """
        with self._lock:
            events = sorted(self._events, key=lambda event: event[0])
        moment = _Moment(gpus_per_node)
        return [f"at {version} {said}" for version, uid, state in events for said in moment.after(uid, state)]

    def _saw_pod(self, _, pod):
        owners = pod["metadata"].get("ownerReferences", [{"uid": ""}])
        state = _Pod(
            name_of(pod), owners[0]["uid"], gpus_of(pod), node_of(pod) or "",
            nominated=pod.get("status", {}).get("nominatedNodeName", ""),
            leaving="deletionTimestamp" in pod["metadata"],
            over="gone" in pod or has_ended(pod),
        )  # fmt: skip
        with self._lock:
            self._note(pod, state)
            if state.bound:
                self._bound.add(state.name)

    def _saw_job(self, _, job):
        note = job["metadata"].get("annotations", {}).get("slackline.dev/preemptions")
        with self._lock:
            self._note(job, _Job(job["spec"]["suspend"]))
            if note:
                self._stops[name_of(job)] = json.loads(note)["count"]

    def _note(self, what, state):
        self._events.append((int(what["metadata"]["resourceVersion"]), what["metadata"]["uid"], state))


class _Moment:
    """The cluster after each event."""

    def __init__(self, room):
        self._room = room
        self._pods = {}  # by uid, that have not ended
        self._stopped = set()  # Jobs

    def after(self, uid, state):
        """What is wrong since this event."""
        if isinstance(state, _Job):
            (self._stopped.add if state.suspended else self._stopped.discard)(uid)
            changed = {pod.bound for pod in self._pods.values() if pod.job == uid}
        else:
            self._pods[uid] = state
            changed = {state.bound or state.nominated}
            if state.over:
                del self._pods[uid]
        return [said for node in changed - {""} for said in self._too_much(node)]

    def _too_much(self, node):
        given = [pod for pod in self._pods.values() if pod.bound == node]
        staying = [pod for pod in given if not pod.leaving and pod.job not in self._stopped]
        waiting = [pod for pod in self._pods.values() if not pod.bound and not pod.leaving]
        promised = staying + [pod for pod in waiting if pod.nominated == node]
        for what, pods in (("given", given), ("promised", promised)):
            if sum(pod.gpus for pod in pods) > self._room:
                yield f"{node} has {what} too many GPUs: {' '.join(sorted(pod.name for pod in pods))}"
