"""What training code does as its pods end early: it reports its last checkpoint (docs/PROGRESS.md).

Pods go on where SLACKLINE_ITERATION says (tests/controlplane/kwok.yaml); what is reported here is
where the next attempt begins.
"""

import datetime
import json
import math
import queue
import threading
import time
from dataclasses import dataclass

from support.objects import name_of, phase_of
from support.runlog import JOB_LABEL

# What was accepted as shortly before a pod was made may have come after its Job's release.
LATE_S = 5


@dataclass
class Attempt:
    began_at: float = 0  # when its last pod began to run
    first_iteration: int = 0
    shape: str = ""


@dataclass
class Report:
    iteration: int
    accepted_s: float = math.inf  # epoch; of one under way not yet


class Trainers:
    """Follows the pods of a run (`saw_pod` is a callback of a watch), and reports to the daemon. As a context."""

    def __init__(self, tasks, daemon, namespace, checkpoint_s):
        self._tasks = {task.name: task for task in tasks}
        self._daemon, self._namespace, self._checkpoint_s = daemon, namespace, checkpoint_s
        self._attempts = {}  # by Job
        self._running = set()  # uids of pods
        self._reports = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._report_all, daemon=True)
        self._reported = {task.name: [Report(0, -math.inf)] for task in tasks}
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
        expected = self._expected(job, pod)
        if attempt.first_iteration not in expected:
            self.wrong.append(f"{name_of(pod)} began at {attempt.first_iteration}, not at {expected}")

    def _expected(self, job, pod):
        """The last iteration that Slackline knew when it released the Job, and those that it may have known."""
        made_s = datetime.datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp()
        known = [report for report in self._reported[job] if report.accepted_s <= made_s - LATE_S]
        return [report.iteration for report in self._reported[job][len(known) - 1 :]]

    def _end(self, job, when):
        """Its pods end one after another: the first one tells."""
        attempt, task = self._attempts.pop(job), self._tasks[job]
        worked_s = (when - attempt.began_at) // self._checkpoint_s * self._checkpoint_s
        done = int(worked_s / task.run_times[attempt.shape] * task.iterations)
        report = Report(min(task.iterations, attempt.first_iteration + done))
        self._reported[job].append(report)
        self._reports.put((job, report, task.iterations))

    def _report_all(self):
        while next_one := self._reports.get():
            job, report, total = next_one
            body = json.dumps({"iteration": report.iteration, "total": total})
            path = f"/v1/tasks/{self._namespace}/{job}/progress"
            status, said = self._daemon.post(path, body, port=self._daemon.api_port)
            if status == 200:
                report.accepted_s = time.time()
            else:
                self.wrong.append(f"{job} could not report {report.iteration}: {status} {said}")


def _first_iteration(pod):
    variables = pod["spec"]["containers"][0].get("env", [])
    return next((int(each["value"]) for each in variables if each["name"] == "SLACKLINE_ITERATION"), 0)


def _shape(pod, task):
    notes = pod["metadata"].get("annotations", {})
    shape = f"{notes.get('slackline.dev/nodes')}x{notes.get('slackline.dev/gpus-per-node')}"
    return shape if shape in task.run_times else "{}x{}".format(*task.written)
