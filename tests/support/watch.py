"""A watch on one kind of object, as a thread: what `kubectl get -w` would show, timed."""

import http.client
import json
import threading
import time
import urllib.parse


class Watch:
    """Calls `seen(when, object)` for all objects there are and each later version, in order.

    `when` is time.time() at which the event was read. An object whose deletion has begun carries
    deletionTimestamp; one that is gone also has "gone", which no Kubernetes object has. The callback runs on the thread of the watch and is to be quick. `fields` is a field selector. As a
    context: stops at the end.
    """

    def __init__(self, cluster, kind, namespace, seen, fields=""):
        self._cluster = cluster
        self._path = cluster.collection(kind, namespace)
        self._select = f"fieldSelector={urllib.parse.quote(fields)}"
        self._seen = seen
        self._ended = False
        self._link = None
        self._failure = None
        self._thread = threading.Thread(target=self._run, name=f"watch-{kind}", daemon=True)

    def __enter__(self):
        status, reply = self._cluster.request("GET", f"{self._path}?{self._select}")
        assert status == 200, f"list {self._path}: {status} {reply}"
        for each in reply["items"]:
            self._seen(time.time(), each)
        self._version = reply["metadata"]["resourceVersion"]
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended = True
        if self._link and self._link.sock:
            self._link.sock.shutdown(2)
        self._thread.join(5)

    def check(self):
        """Raises AssertionError where the watch has broken."""
        if self._failure:
            raise AssertionError(f"the watch on {self._path} ended: {self._failure}")

    def _run(self):
        try:
            while not self._ended:  # the API server ends the watch of whoever reads too slowly
                self._follow()
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            self._failure = error
        if self._ended:
            self._failure = None

    def _follow(self):
        self._link = self._cluster.connect(timeout=None)
        query = f"?watch=1&timeoutSeconds=3600&resourceVersion={self._version}&{self._select}"
        self._link.request("GET", self._path + query)
        answer = self._link.getresponse()
        while line := answer.readline():
            when = time.time()
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise ValueError(event["object"].get("message"))
            self._version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                event["object"]["gone"] = True
            self._seen(when, event["object"])
        self._link.close()
