"""One preemption of a run, told in a few lines: who came, who gave way, what was kept, and what became of it."""

import re

_ASKER = re.compile(r"so that [^/]+/(\S+) can start: its checkpoints keep (\d+) %")


def preemptions(cluster, namespace):
    """{asker: [(victim, share of its work that is kept, in percent)]}, as the Events of the Jobs say."""
    told = {}
    for event in cluster.list("event", namespace):
        found = _ASKER.search(event.get("message") or event.get("note", ""))
        if event["reason"] == "Preempted" and found:
            told.setdefault(found[1], []).append((event["involvedObject"]["name"], int(found[2])))
    return told


def story_of(cluster, namespace, run):
    """Lines about the first urgent Job that somebody gave way to, else the first Job; none where nobody did."""
    rows = {row.name: row for row in run.rows}
    victims = preemptions(cluster, namespace)
    askers = [name for name in victims if run.logs[name].waits]
    askers.sort(key=lambda name: (rows[name].qos != "urgent", rows[name].submit_s))
    return _tell(askers[0], victims[askers[0]], rows, run.logs) if askers else []


def _tell(asker, victims, rows, logs):
    log, row = logs[asker], rows[asker]
    began = log.submitted_at - row.submit_s
    since, bound_at = log.waits[0]
    lines = [f"{asker} is {row.qos} and comes after {row.submit_s:.1f} s, into a full cluster."]
    for victim, kept in victims:
        ours = logs[victim]
        stopped_at = min((at for at in ours.stopped_at if at >= since - 1), default=None)
        again = next((end for begin, end in ours.waits if begin == stopped_at), None)
        if stopped_at is None or again is None:
            continue
        lines.append(
            f"  {victim} ({rows[victim].qos}) gives way after {stopped_at - began:.1f} s, with {kept} % of its work in"
            f" checkpoints; it runs again after {again - began:.1f} s and is done after"
            f" {rows[victim].finish_s:.1f} s{_in_time(rows[victim])}."
        )
    lines.append(
        f"  {asker} runs after {bound_at - began:.1f} s, {1000 * (bound_at - since):.0f} ms after it came,"
        f" and is done after {row.finish_s:.1f} s."
    )
    return lines


def _in_time(row):
    if row.qos == "urgent":
        return ""
    return ", in time" if row.met else ", too late"
