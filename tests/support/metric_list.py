"""The one list of metrics, as src/obs/metric_list.cpp has it, and docs/METRICS.md, which is made of it."""

import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/METRICS.md"
_STRINGS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
_ENTRY = re.compile(
    rf"^    // (?P<section>.+)$|\{{{_STRINGS},\s*MetricKind::k(\w+),\s*{_STRINGS},\s*{_STRINGS},\s*{_STRINGS}\}}", re.M
)
_INTRODUCTION = """# Metrics

`GET /metrics` of the health listener has them, in the text format of Prometheus. This page is made of the list in the code
by `scripts/metrics-page`. A counter whose labels have known values is there from the start, with 0; the counters of a
queue and class once one of its Jobs has begun.

No series carries the name of a pod, a user or a path. A metric keeps at most 200 series, and at most a hundred queues;
the rest is `other`.
"""


class Metric(NamedTuple):
    section: str
    name: str
    kind: str  # counter, gauge, histogram
    labels: dict  # name: its values, where they are known
    help: str
    look_at: str

    def series(self):
        """The names under which PromQL knows it."""
        ends = ("_bucket", "_sum", "_count") if self.kind == "histogram" else ("",)
        return {self.name + end for end in ends}


def _text(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def listed():
    """Every metric, in the order of the list."""
    source = (ROOT / "src/obs/metric_list.cpp").read_text().partition("kListed")[2]
    metrics, section = [], ""
    for found in _ENTRY.finditer(source):
        if found["section"]:
            section = found["section"]
            continue
        name, kind, labels, about, look_at = found.groups()[1:]
        pairs = [label.partition("=") for label in _text(labels).split(",") if label]
        values = {key: of.split("|") if of else [] for key, _, of in pairs}
        metrics.append(Metric(section, _text(name), kind.lower(), values, _text(about), _text(look_at)))
    assert len(metrics) == source.count("MetricKind::"), "an entry of src/obs/metric_list.cpp cannot be read"
    return metrics


def page():
    """The text of docs/METRICS.md."""
    lines, section = [_INTRODUCTION], ""
    for metric in listed():
        if metric.section != section:
            section = metric.section
            lines += [f"\n## {section}\n", "| metric | kind | what it tells | what to watch |", "|---|---|---|---|"]
        labels = "{" + ",".join(metric.labels) + "}" if metric.labels else ""
        known = "".join(
            f" `{key}`: " + ", ".join(f"`{value}`" for value in values) + "."
            for key, values in metric.labels.items()
            if values
        )
        lines.append(f"| `{metric.name}{labels}` | {metric.kind} | {metric.help}{known} | {metric.look_at} |")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"
