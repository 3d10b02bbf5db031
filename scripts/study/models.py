"""How well throughput models predict what they have not seen -> docs/study/models.md.

Runs `slackline fit` on each public data set, with each kind of model and each way to hold samples out,
and sets the errors beside the bars to reach. Needs SLACKLINE and SLACKLINE_SHARED (scripts/study/run).
"""

import csv
import dataclasses
import glob
import json
import os
import pathlib
import subprocess
import tempfile

SLACKLINE = os.environ["SLACKLINE"]
DATA = os.environ["SLACKLINE_SHARED"] + "/data"
OUT = pathlib.Path("docs/study")
KINDS = ("S", "A", "P", "P2", "auto")
PLOTS = {"t4-symmetric", "k80", "p100", "a100"}  # one drawing each, by leave-one-out


@dataclasses.dataclass
class DataSet:
    name: str
    title: str
    arguments: list  # of slackline fit; globs are expanded
    holds: dict  # way to hold out -> bar, percent; None: no bar
    keep: object = None  # predicate on rows of samples


def small_and_symmetric(row):
    return "+" not in row["placement"] and int(row["placement"].split("x")[0]) <= 4


POLLUX = ["--from", "pollux", f"{DATA}/pollux-t4/*/placements.csv",
          f"{DATA}/pollux-t4/*/scalability.csv"]
GAVEL = ["--from", "gavel", f"{DATA}/gavel/single_job_throughputs_k80_p100.json"]
A100 = ["--from", "elasticflow"] + [
    f"{DATA}/elasticflow-a100/throughputs_A100/{model}.csv"
    for model in ("bert", "deepspeech2", "gpt2", "inception3", "resnet50", "vgg16")]
DATA_SETS = [
    DataSet("t4-all", "Pollux T4, every placement, 1-64 GPUs on 1-16 nodes", POLLUX,
            {"kfold:8": 8.0, "few": 14.0}),
    DataSet("t4-symmetric", "Pollux T4, equal GPUs on each of 1-4 nodes", POLLUX,
            {"loo": 9.0, "few": 14.0}, small_and_symmetric),
    DataSet("k80", "Gavel K80, 1-8 GPUs in one server or one per server",
            GAVEL + ["--gpu-type", "K80"], {"loo": None}),
    DataSet("p100", "Gavel P100, 1-8 GPUs in one server or one per server",
            GAVEL + ["--gpu-type", "P100"], {"loo": None}),
    DataSet("a100", "ElasticFlow A100, 1-64 GPUs in servers of 8", A100, {"loo": None}),
]


def fit(arguments):
    """Runs slackline fit; its report's rows."""
    expanded = [path for a in arguments for path in (sorted(glob.glob(a)) if "*" in a else [a])]
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        subprocess.run([SLACKLINE, "fit", *expanded, "--report", report.name], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.load(report)["models"]


def samples_of(data_set, folder):
    """The data set as our CSV, only the rows that it keeps."""
    path = f"{folder}/{data_set.name}.csv"
    fit([*data_set.arguments, "--holdout", "none", "--samples-out", path])
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, rows[0].keys())
        out.writeheader()
        out.writerows(row for row in rows if data_set.keep is None or data_set.keep(row))
    return path


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def show(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def verdict(error, bar):
    return "-" if bar is None else f"{bar:g} {'reached' if error <= bar else '**missed**'}"


def study(data_set, samples):
    """Lines of the two tables: one row per way to hold out, one row per model."""
    summary, details = [], []
    for hold, bar in data_set.holds.items():
        by_kind = {kind: fit([samples, "--kind", kind, "--holdout", hold]) for kind in KINDS}
        errors = [show(mean(row["held_out_mape"] for row in by_kind[kind])) for kind in KINDS]
        rows = [row for row in by_kind["auto"] if row["held_out_mape"] is not None]
        best = mean(row["held_out_mape"] for row in rows)
        summary.append(f"| {data_set.title} | {hold} | {' | '.join(errors)} | {verdict(best, bar)} | "
                       f"{show(mean(row['held_out_median_ape'] for row in rows))} | "
                       f"{show(mean(row['noise_floor'] for row in rows))} | "
                       f"{show(mean(row['chosen_within_5pct'] for row in rows), 0)} |")
        for row in rows:
            details.append(f"| {data_set.name} | {hold} | `{row['model']}` | {row['points']} | "
                           f"{row['kind']} | {show(row['in_sample_mape'])} | "
                           f"{show(row['held_out_mape'])} | {show(row['held_out_median_ape'])} | "
                           f"{show(row['held_out_p90_ape'])} | {show(row['noise_floor'])} | "
                           f"{show(row['chosen_within_5pct'], 0)} |")
    if data_set.name in PLOTS:
        fit([samples, "--svg", str(OUT / f"models-{data_set.name}.svg")])
    return summary, details


def command_of(data_set):
    text = " ".join(data_set.arguments).replace(DATA, "$DATA")
    cut = "  # then only rows of equal GPUs per node, at most 4 nodes" if data_set.keep else ""
    return f"slackline fit {text} --samples-out {data_set.name}.csv{cut}"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    summary, details = [], []
    with tempfile.TemporaryDirectory() as folder:
        for data_set in DATA_SETS:
            rows, models = study(data_set, samples_of(data_set, folder))
            summary += rows
            details += models
    page = (pathlib.Path(__file__).parent / "models.template.md").read_text()
    page = page.replace("{{summary}}", "\n".join(summary)).replace("{{details}}", "\n".join(details))
    page = page.replace("{{commands}}", "\n".join(command_of(data_set) for data_set in DATA_SETS))
    page = page.replace("{{plots}}", "\n".join(
        f"![Predicted against measured, {data_set.title}](models-{data_set.name}.svg)"
        for data_set in DATA_SETS if data_set.name in PLOTS))
    (OUT / "models.md").write_text(page)


if __name__ == "__main__":
    main()
