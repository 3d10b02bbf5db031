"""Thousands of objects at once, and how fast their pods are bound."""

import json
import threading

from support.objects import node_of
from support.watch import Watch

_CONNECTIONS = 8


def create_all(cluster, kind, namespace, objects):
    """POSTs every object, over a few connections; raises AssertionError where one is refused."""
    path = cluster.collection(kind, namespace)
    requests = [("POST", path, json.dumps(each)) for each in objects]
    send_all(cluster, requests, (201,))


def delete_each(cluster, kind, namespace, names):
    """Deletes objects without grace, over a few connections."""
    path = cluster.collection(kind, namespace)
    options = json.dumps({"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
    send_all(cluster, [("DELETE", f"{path}/{name}", options) for name in names], (200, 202))


def send_all(cluster, requests, expected, content="application/json"):
    """Sends (method, path, body) over a few connections; AssertionError at an answer not expected."""
    failures = []

    def send(some):
        link = cluster.connect()
        for method, path, body in some:
            link.request(method, path, body, {"Content-Type": content})
            answer = link.getresponse()
            text = answer.read()
            if answer.status not in expected:
                failures.append(f"{method} {path}: {answer.status} {text[:300]}")
                return
        link.close()

    threads = [
        threading.Thread(target=send, args=(requests[i::_CONNECTIONS],), daemon=True) for i in range(_CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


class Bindings:
    """When each pod of a namespace was seen bound, as a context: {name: time}."""

    def __init__(self, cluster, namespace):
        self._cluster = cluster
        # The others are not told: who measures is to take little of the machine that is measured.
        self._watch = Watch(cluster, "pod", namespace, self._saw, fields="spec.nodeName!=")
        self.at = {}

    def __enter__(self):
        self._watch.__enter__()
        return self

    def __exit__(self, *arguments):
        self._watch.__exit__(*arguments)

    def wait(self, count, timeout):
        """Until so many are bound."""

        def enough():
            self._watch.check()
            return len(self.at) >= count

        self._cluster.wait(enough, timeout, f"{count} pods to be bound")

    def per_s(self):
        """Pods per second from the first binding to the last."""
        times = sorted(self.at.values())
        return (len(times) - 1) / (times[-1] - times[0])

    def _saw(self, when, pod):
        if node_of(pod):
            self.at.setdefault(pod["metadata"]["name"], when)
