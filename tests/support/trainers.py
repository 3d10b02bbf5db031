"""What training code does as its pods end early: it reports its last checkpoint (docs/PROGRESS.md).

Pods go on where SLACKLINE_ITERATION says (tests/controlplane/kwok.yaml); what is reported here is
where the next attempt begins.
"""

import json
import queue
import threading
from dataclasses import dataclass

from support.objects import name_of, phase_of
from support.runlog import JOB_LABEL


@dataclass
class Attempt:
    began_at: float = 0  # when its last pod began to run
    first_iteration: int = 0
    shape: str = ""


class Trainers:
    """Follows the pods of a run (`saw_pod` is a callback of a watch), and reports to the daemon. As a context."""

    def __init__(self, tasks, daemon, namespace, checkpoint_s):
        self._tasks = {task.name: task for task in tasks}
        self._daemon, self._namespace, self._checkpoint_s = daemon, namespace, checkpoint_s
        self._attempts = {}  # by Job
        self._running = set()  # uids of pods
        self._reports = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._report_all, daemon=True)
        self.reported = {}  # {Job: iteration}
        self.wrong = []  # "JOB began at 0, not at 120"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._reports.put(None)
        self._thread.join()

    def saw_pod(self, when, pod):
        job, uid = pod["metadata"].get("labels", {}).get(JOB_LABEL), pod["metadata"]["uid"]
        if job not in self._tasks:
            return
        if phase_of(pod) == "Running" and "deletionTimestamp" not in pod["metadata"]:
            if uid not in self._running:
                self._running.add(uid)
                self._begin(job, when, pod)
        elif uid in self._running:
            self._running.remove(uid)
            if "deletionTimestamp" in pod["metadata"] and job in self._attempts:
                self._end(job, when)

    def _begin(self, job, when, pod):
        attempt = self._attempts.setdefault(job, Attempt())
        attempt.began_at = when
        attempt.first_iteration = _first_iteration(pod)
        attempt.shape = _shape(pod, self._tasks[job])
        expected = self.reported.get(job, 0)
        if attempt.first_iteration != expected:
            self.wrong.append(f"{name_of(pod)} began at {attempt.first_iteration}, not at {expected}")

    def _end(self, job, when):
        """Its pods end one after another: the first one tells."""
        attempt, task = self._attempts.pop(job), self._tasks[job]
        worked_s = (when - attempt.began_at) // self._checkpoint_s * self._checkpoint_s
        done = int(worked_s / task.run_times[attempt.shape] * task.iterations)
        self.reported[job] = min(task.iterations, attempt.first_iteration + done)
        self._reports.put((job, self.reported[job], task.iterations))

    def _report_all(self):
        while report := self._reports.get():
            job, iteration, total = report
            body = json.dumps({"iteration": iteration, "total": total})
            path = f"/v1/tasks/{self._namespace}/{job}/progress"
            status, said = self._daemon.post(path, body, port=self._daemon.api_port)
            if status != 200:
                self.wrong.append(f"{job} could not report {iteration}: {status} {said}")


def _first_iteration(pod):
    variables = pod["spec"]["containers"][0].get("env", [])
    return next((int(each["value"]) for each in variables if each["name"] == "SLACKLINE_ITERATION"), 0)


def _shape(pod, task):
    notes = pod["metadata"].get("annotations", {})
    shape = f"{notes.get('slackline.dev/nodes')}x{notes.get('slackline.dev/gpus-per-node')}"
    return shape if shape in task.run_times else "{}x{}".format(*task.written)
