"""The same Jobs with Slackline, in several ways, and with the stock scheduler; and what the simulator says.

    trace = make_trace(directory)
    runs = [run_stock(cluster, trace), run_active(cluster, trace, SAVABLE), run_active(cluster, trace, DEFAULT)]
    print(*table(trace, runs), sep="\n")

One run at a time: each has a namespace and a kube-scheduler of its own, on the same nodes.
"""

import statistics
import time
from dataclasses import dataclass

from support.active import start_active
from support.controlplane import stock_scheduler_config
from support.patience import patient
from support.runlog import RunLog
from support.trace import CHECKPOINT_S, GPUS_PER_NODE, NODES, STARTUP_S, Way, job
from support.trainers import Trainers
from support.watch import Watch

_SCHEDULER = "kube-scheduler"
_MOST_S = 600
_SAY_EVERY_S = 10
_BOOKS_LATE_S = 10  # behind what the Jobs say of themselves


@dataclass(frozen=True)
class Row:
    """One Job of a run; times in seconds from the start of the run."""

    name: str
    qos: str
    shape: str  # nodes x GPUs that it ran on
    submit_s: float
    release_s: float | None  # None: nobody held it back
    bound_s: float
    finish_s: float
    deadline_s: float
    met: bool  # False where there is no deadline


@dataclass(frozen=True)
class Run:
    """What a run achieved. Shares are 0-1."""

    way: Way | None  # of Slackline; None: the stock scheduler
    rows: list
    with_deadline: int
    met: int
    makespan_s: float
    busy: float  # GPUs taken, of all until the last Job finished
    busy_while_waiting: float  # the same, while some Job waited for GPUs
    freed_to_bound_s: list  # see freed_to_bound()
    startup_s: float  # what a Job costs besides its run time: binding, starting, ending
    stops: int
    stop_s: float  # from a stop to the last of its pods being gone
    wrong: list  # what its trainers found wrong
    overcommitted: list
    logs: dict  # {Job: JobLog}

    @property
    def met_share(self):
        return self.met / self.with_deadline


def run_stock(cluster, trace, say=lambda line: None):
    """The Jobs as they are written, by kube-scheduler without any extender."""
    namespace = cluster.add_namespace("stock")
    cluster.start_scheduler(stock_scheduler_config(cluster), name=_SCHEDULER)
    run = play(cluster, trace, namespace, say)
    cluster.kill(_SCHEDULER)
    return run


def run_active(cluster, trace, way, say=lambda line: None, detached=False):
    """The same Jobs with Slackline in active mode: (run, daemon), and the daemon goes on."""
    profile = trace.profile(STARTUP_S)
    settings = f"profiles: [{profile}]\n"
    daemon = start_active(cluster, way.namespace, way.squeezed_policy(trace.squeeze), settings, detached)
    with Trainers(trace.tasks, daemon, way.namespace, CHECKPOINT_S / trace.squeeze) as trainers:
        return play(cluster, trace, way.namespace, say, way, trainers), daemon


def end_active(cluster, daemon):
    """Makes room for the next way."""
    cluster.kill(_SCHEDULER)
    daemon.stop()


def play(cluster, trace, namespace, say, way=None, trainers=None):
    """Submits every Job at its time, waits until all have finished, and closes the books."""
    log = RunLog(GPUS_PER_NODE)

    def saw_pod(when, pod):
        log.saw_pod(when, pod)
        if trainers:
            trainers.saw_pod(when, pod)

    with Watch(cluster, "pod", namespace, saw_pod) as pods:
        with Watch(cluster, "job", namespace, log.saw_job) as jobs:
            began = time.time()
            told = began
            open_at = began  # when Jobs were last seen that are not complete
            tasks = list(trace.tasks)
            while True:
                pods.check()
                jobs.check()
                now = time.time()
                while tasks and began + tasks[0].submit_s <= now:
                    task = tasks.pop(0)
                    manifest = job(
                        task, namespace, began + task.deadline_s, trace.squeeze, way is not None and way.as_written
                    )
                    submit(cluster, task.name, namespace, manifest, log)
                logs = log.jobs()
                done = sum(bool(each.finished_at) for each in logs.values())
                if done == len(trace.tasks):
                    break
                if log.complete() < len(trace.tasks):
                    open_at = now
                if now - open_at > patient(_BOOKS_LATE_S):
                    raise AssertionError(f"all Jobs are complete, and the books know of {done}\n{unfinished(logs)}")
                if now - told >= _SAY_EVERY_S:
                    told = now
                    say(progress(trace, logs, began, now))
                if now - began > patient(_MOST_S):
                    raise AssertionError(f"{done} Jobs finished in {now - began:.0f} s\n{unfinished(logs)}")
                next_s = began + tasks[0].submit_s - now if tasks else 0.1
                time.sleep(min(0.1, max(0.001, next_s)))
    return close_books(trace, log, began, way, trainers.wrong if trainers else [])


def submit(cluster, name, namespace, manifest, log):
    status, reply = cluster.request("POST", cluster.collection("job", namespace), manifest)
    assert status == 201, f"creating {name}: {status} {reply}"
    log.submitted(name, time.time())


def progress(trace, logs, began, now):
    """One line about a run that goes on."""
    deadlines = {task.name: began + task.deadline_s for task in trace.tasks if task.has_deadline}
    running = [each for each in logs.values() if each.bound_at and not each.finished_at]
    done = {name: each for name, each in logs.items() if each.finished_at}
    met = sum(each.finished_at <= deadlines.get(name, 0) for name, each in done.items())
    busy = sum(pod.gpus for each in logs.values() for pod in each.pods if pod.bound_at and not pod.ended_at)
    return (
        f"{now - began:4.0f} s  {len(logs):2} submitted  {len(logs) - len(running) - len(done):2}"
        f" waiting  {len(running):2} running on {busy:2} GPUs  {len(done):2} done,"
        f" {met:2} by their deadline"
    )


def unfinished(logs):
    return "\n".join(f"{name}: {each}" for name, each in logs.items() if not each.finished_at)


def close_books(trace, log, began, way, wrong):
    logs = log.jobs()
    rows = [_row(task, logs[task.name], began) for task in trace.tasks]
    makespan_s = max(row.finish_s for row in rows)
    pods = [pod for pod in log.pods() if pod.bound_at]
    gpus = NODES * GPUS_PER_NODE
    waits = _union([wait for each in logs.values() for wait in each.waits])
    waiting_s = sum(end - begin for begin, end in waits)
    busy_s = sum(pod.gpus * (pod.ended_at - pod.bound_at) for pod in pods)
    freed = freed_to_bound(logs, pods)
    beside = [
        logs[task.name].finished_at - logs[task.name].bound_at - task.run_times[row.shape]
        for task, row in zip(trace.tasks, rows)
        if not logs[task.name].stopped_at
    ]
    stops_s = [took_s for name, each in logs.items() for took_s in _stops_s(name, each, pods)]
    return Run(
        way=way,
        rows=rows,
        with_deadline=sum(task.has_deadline for task in trace.tasks),
        met=sum(row.met for row in rows),
        makespan_s=makespan_s,
        busy=busy_s / (gpus * makespan_s),
        busy_while_waiting=_overlap_s(pods, waits) / (gpus * waiting_s) if waiting_s else 0,
        freed_to_bound_s=freed,
        startup_s=statistics.mean(beside) + (statistics.median(freed) if freed else 0),
        stops=sum(len(each.stopped_at) for each in logs.values()),
        stop_s=statistics.mean(stops_s) if stops_s else 0,
        wrong=wrong,
        overcommitted=log.overcommitted,
        logs=logs,
    )


def _stops_s(name, log, pods):
    """Of every stop of a Job: until the last of its pods had ended."""
    for at in log.stopped_at:
        ended = [pod.ended_at for pod in pods if pod.job == name and pod.bound_at < at <= pod.ended_at]
        if ended:
            yield max(ended) - at


def freed_to_bound(logs, pods):
    """Of every Job that waited for GPUs: from the last one freed on its nodes to its last binding.

    Freed before it was released, that is; a Job that was not submitted by then waited for nothing.
    Not of Jobs that were stopped, nor of those that others made room for: these are released first.
    """
    latencies = []
    for log in logs.values():
        if log.stopped_at:
            continue
        decided_at = log.released_at or log.bound_at
        nodes = {pod.node for pod in log.pods}
        freed = [pod.ended_at for pod in pods if pod.node in nodes and pod.ended_at <= decided_at]
        if freed and max(freed) > log.submitted_at:
            latencies.append(log.bound_at - max(freed))
    return sorted(latencies)


def quantile(values, share):
    """The element at that share of a sorted list; NaN where it is empty."""
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def table(trace, runs):
    """The runs side by side as lines of Markdown, each of Slackline's beside its simulation."""
    heads, columns = [], []
    for run in runs:
        heads.append(run.way.name if run.way else "stock scheduler")
        columns.append(_measured(run))
        if run.way:
            heads.append("simulated")
            columns.append(_foretold(trace.simulate(run.way, run.startup_s, run.stop_s)))
    names = [
        "deadlines met",
        "all done after",
        "GPUs busy",
        "GPUs busy while Jobs wait",
        "GPU freed -> next bound, p50 / p90",
        "urgent Jobs: submitted to finished",
        "stops; until the GPUs are free",
    ]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for row in zip(names, *columns):
        lines.append(f"| {' | '.join(row)} |")
    return lines


def _measured(run):
    return [
        f"{run.met} of {run.with_deadline} ({100 * run.met_share:.1f} %)",
        f"{run.makespan_s:.1f} s",
        f"{100 * run.busy:.1f} %",
        f"{100 * run.busy_while_waiting:.1f} %",
        " / ".join(f"{1000 * quantile(run.freed_to_bound_s, q):.0f} ms" for q in (0.5, 0.9)),
        _urgent_latency(run),
        f"{run.stops}; {run.stop_s:.1f} s" if run.stops else "0",
    ]


def _foretold(report):
    return [
        f"{report['q_no_urgent']:.1f} %",
        f"{3600 * report['makespan_h']:.1f} s",
        f"{report['util']:.1f} %",
        "-",
        "-",
        "-",
        str(report["preemptions"]),
    ]


def verdict(runs):
    """The line that counts."""
    named = [(run.way.name if run.way else "stock", run) for run in runs]
    return "deadlines met: " + ", ".join(f"{name} {run.met} of {run.with_deadline}" for name, run in named)


def _row(task, log, began):
    finish_s = log.finished_at - began
    pods, gpus = len(log.pods), log.pods[0].gpus
    return Row(
        name=task.name,
        qos=task.qos,
        shape=f"{pods}x{gpus}",
        submit_s=log.submitted_at - began,
        release_s=log.released_at - began if log.released_at else None,
        bound_s=log.bound_at - began,
        finish_s=finish_s,
        deadline_s=task.deadline_s,
        met=task.has_deadline and finish_s <= task.deadline_s,
    )


def _urgent_latency(run):
    latencies = [row.finish_s - row.submit_s for row in run.rows if row.qos == "urgent"]
    return f"{statistics.mean(latencies):.1f} s" if latencies else "-"


def _union(spans):
    """Disjoint spans that cover the same time."""
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def _overlap_s(pods, spans):
    """GPU-seconds of the pods within the spans."""
    return sum(
        pod.gpus * max(0, min(end, pod.ended_at) - max(begin, pod.bound_at)) for pod in pods for begin, end in spans
    )
