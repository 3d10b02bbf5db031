"""The paper's mix of tasks, drawn by the simulator, squeezed in time and written as Jobs.

Six workload types, classes 5:35:60, requests of 1, 2, 4 and 8 GPUs, Poisson arrivals. `squeeze`
divides arrivals, deadlines and iterations alike, so that hours become minutes and everything keeps
its proportion. The same tasks go to a cluster (`job`) and into the simulator (`simulate`).
"""

import csv
import datetime
import json
import pathlib
from dataclasses import dataclass, field

from support.controlplane import ROOT
from support.daemon import slackline
from support.objects import gpu_job

GPU_TYPE = "K80"
NODES, GPUS_PER_NODE = 4, 4
RUN_TIMES = "sim.slackline.dev/run-times"  # these two are read by tests/controlplane/kwok.yaml
ITERATIONS = "sim.slackline.dev/iterations"
STARTUP_S = 0.06  # what the planner expects of a start here; the 30 s of the shipped profile would be 0.2 s
CHECKPOINT_S = 600
_PROFILE = ROOT / "manifests" / "profiles" / "k80.json"
_SHAPES = [(d, g) for d in range(1, NODES + 1) for g in range(1, GPUS_PER_NODE + 1)]


@dataclass(frozen=True)
class Way:
    """How Slackline plans the Jobs of a trace, live and in the simulator."""

    name: str
    policy: str
    times: tuple = ()  # further options with their seconds (or hours), squeezed like everything else
    as_written: bool = False  # Jobs without `placements`

    @property
    def namespace(self):
        """Of its Jobs; its queue, too."""
        return f"team-{self.name.replace(' ', '-')}"

    def squeezed_policy(self, squeeze):
        """`headroom` and `calm` go by the hour after an arrival, which no option squeezes: they are off."""
        times = {"floor": 7200, "tick": 60, **dict(self.times)}
        options = "".join(f",{name}={value / squeeze:.4g}" for name, value in times.items())
        return f"{self.policy},headroom=0,calm=0{options}"


DEFAULT = Way("default", "default", (("protect", 600), ("patience", 300), ("budget", 4)))
SAVABLE = Way("savable", "savable")
AS_WRITTEN = Way("as written", "savable", as_written=True)


@dataclass(frozen=True)
class Task:
    """One row of the trace; times in squeezed seconds from the start."""

    number: int
    submit_s: float
    model: str
    batch: int
    iterations: int
    qos: str
    deadline_s: float
    gpus: int  # asked for
    run_times: dict = field(default_factory=dict)  # by shape, without start-up

    @property
    def name(self):
        return f"{self.number:03}-{self.model}"

    @property
    def has_deadline(self):
        """Urgent tasks have none that could be met: theirs is the moment of their submission."""
        return self.qos != "urgent"

    @property
    def written(self):
        """Nodes x GPUs as it is written."""
        pods = max(1, self.gpus // GPUS_PER_NODE)
        return pods, self.gpus // pods


@dataclass(frozen=True)
class Trace:
    tasks: list
    squeeze: float
    rate_per_h: float
    seed: int
    csv: pathlib.Path
    directory: pathlib.Path

    def profile(self, startup_s):
        """The shipped profile with the start-up of this cluster, in squeezed seconds: a file."""
        profile = json.loads(_PROFILE.read_text())
        for entry in profile["entries"]:
            entry["startup_s"] = startup_s
        path = self.directory / f"profile-{startup_s:.4f}.json"
        path.write_text(json.dumps(profile))
        return path

    def simulate(self, way, startup_s, stop_s=0):
        """The simulator's report on these tasks: same planner, same policy. `stop_s`: what a stop costs besides."""
        report = self.directory / "simulated.json"
        slackline(
            "simulate", "--trace", self.csv, "--profile", self.profile(startup_s),
            "--platform", f"{NODES}x{GPUS_PER_NODE}:{GPU_TYPE}", "--policy", way.squeezed_policy(self.squeeze),
            "--fixed" if way.as_written else "--divisible",
            "--checkpoint", CHECKPOINT_S / self.squeeze, "--restart", startup_s + stop_s, "--report", report,
        )  # fmt: skip
        return json.loads(report.read_text())


def make_trace(directory, tasks=60, rate_per_h=20, seed=1, mix="5:35:60", squeeze=160):
    """The first `tasks` of a generated trace; `mix` is of urgent, prior and normal ones."""
    directory = pathlib.Path(directory)
    drawn = directory / "drawn.csv"
    slackline(
        "simulate", "--generate", "paper000", "--rate", rate_per_h, "--seed", seed, "--mix", mix,
        "--hours", 2 * tasks / rate_per_h, "--profile", _PROFILE,
        "--platform", f"{NODES}x{GPUS_PER_NODE}", "--policy", "fifo", "--write-trace", drawn,
    )  # fmt: skip
    with open(drawn, newline="") as file:
        rows = [_squeezed(row, squeeze) for row in csv.DictReader(file)][:tasks]
    assert len(rows) == tasks, f"{len(rows)} tasks were drawn, not {tasks}"
    path = directory / "trace.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    speeds = _speeds(directory, rows)
    return Trace([_task(row, speeds) for row in rows], squeeze, rate_per_h, seed, path, directory)


def job(task, namespace, deadline_at, squeeze, as_written=False):
    """The task as a researcher writes it: an Indexed Job that leaves its shape open, or not.

    `deadline_at` is epoch seconds. The annotations RUN_TIMES and ITERATIONS tell KWOK how long its pods run.
    """
    pods, gpus = task.written
    notes = {
        "model": task.model,
        "batch-size": str(task.batch),
        "iterations": str(task.iterations),
        "qos-class": task.qos,
        "checkpoint-interval": f"{1000 * CHECKPOINT_S / squeeze:.0f}ms",
    }
    if not as_written:
        notes |= {"placements": "auto", "resize": "auto"}
    if task.has_deadline:
        at = datetime.datetime.fromtimestamp(deadline_at, datetime.UTC)
        notes["deadline"] = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    times = {**task.run_times, "written": task.run_times[f"{pods}x{gpus}"]}
    run_times = {shape: f"{seconds * 1000:.0f}ms" for shape, seconds in times.items()}
    made = gpu_job(task.name, gpus, pods, namespace, notes, scheduler="gpu-scheduler")
    made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 0  # 30 s are 0.2 s here
    made["spec"]["template"]["metadata"]["annotations"] |= {
        RUN_TIMES: json.dumps(run_times),
        ITERATIONS: str(task.iterations),
    }
    return made


def _squeezed(row, squeeze):
    return {
        **row,
        "submit": f"{float(row['submit']) / squeeze:.6f}",
        "deadline": f"{float(row['deadline']) / squeeze:.6f}",
        "iters": str(max(1, round(float(row["iters"]) / squeeze))),
    }


def _speeds(directory, rows):
    """Samples per second by (model, batch, shape), as the shipped profile predicts."""
    questions, answers = directory / "questions.csv", directory / "answers.csv"
    asked = sorted({(row["type"], row["batch"]) for row in rows})
    with open(questions, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "gpu_type", "batch", "placement"])
        writer.writerows([model, GPU_TYPE, batch, f"{d}x{g}"] for model, batch in asked for d, g in _SHAPES)
    slackline("predict", "--profile", _PROFILE, "--samples", questions, "--out", answers)
    with open(answers, newline="") as file:
        return {(row["model"], row["batch"], row["placement"]): float(row["predicted"]) for row in csv.DictReader(file)}


def _task(row, speeds):
    model, batch, iterations = row["type"], row["batch"], int(row["iters"])
    shapes = [f"{d}x{g}" for d, g in _SHAPES]
    return Task(
        number=int(row["id"]),
        submit_s=float(row["submit"]),
        model=model,
        batch=int(batch),
        iterations=iterations,
        qos=row["klass"].lower(),
        deadline_s=float(row["deadline"]),
        gpus=int(row["req"]),
        run_times={shape: int(batch) * iterations / speeds[model, batch, shape] for shape in shapes},
    )
