"""What the annotation `forecast` tells of waiting Jobs, held against what then happens.

    found = outcomes(run, trace.tasks)
    print(Score.of(found))

"starts 14:10" is said of a start in that minute, "starts 14:10:05" in that second.
"""

import datetime
import re
from dataclasses import dataclass

FORGIVEN_S = 5  # as the daemon does: the API server writes whole seconds, and a release takes some
_TIME = r"((?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)?)"
_SPAN = rf"{_TIME}(?: \(by {_TIME}\))?"


@dataclass(frozen=True)
class Told:
    """One annotation; times are epoch seconds, at the end of the second or minute that it names. None: it does not say."""

    at: float
    start: float | None
    start_by: float | None
    done: float | None
    done_by: float | None
    chance: float | None

    @classmethod
    def read(cls, at, text):
        start, start_by = _span(at, rf"starts {_SPAN}", text)
        done, done_by = _span(at, rf"done {_SPAN}", text)
        chance = re.search(r"in time (\d+) %", text)
        return cls(at, start, start_by, done, done_by, int(chance[1]) / 100 if chance else None)


def _span(at, pattern, text):
    found = re.search(pattern, text)
    return (_epoch(at, found[1]), _epoch(at, found[2])) if found else (None, None)


def _epoch(at, text):
    if text is None:
        return None
    today = datetime.datetime.fromtimestamp(at, datetime.UTC)
    day, clock = text.split(" ") if " " in text else (f"{today:%Y-%m-%d}", text)
    whole = clock.count(":") == 2
    when = datetime.datetime.fromisoformat(f"{day}T{clock}{'' if whole else ':00'}+00:00")
    return when.timestamp() + (1 if whole else 60)


@dataclass(frozen=True)
class Outcome:
    """The first forecast of a Job that says a start, beside what became of it."""

    told: Told
    started: float  # after it was told
    finished: float
    met: bool | None  # None: it has no deadline that counts


def outcomes(run, tasks):
    """Of the Jobs of a run (support.comparison) that waited long enough to be told."""
    met = {row.name: row.met for row in run.rows}
    found = []
    for task in tasks:
        log = run.logs[task.name]
        told = next((each for each in (Told.read(*note) for note in log.told) if each.start), None)
        started = [bound for _, bound in log.waits if told and bound > told.at]
        if started:
            found.append(Outcome(told, started[0], log.finished_at, met[task.name] if task.has_deadline else None))
    return found


@dataclass(frozen=True)
class Score:
    """Shares of the outcomes: nine in ten should have come by the later time, and half not before the median."""

    jobs: int
    started_by: float
    started_early: float  # before the median
    done_by: float
    done_early: float
    chances: list  # (chance, met)

    @classmethod
    def of(cls, found):
        def share(came_true):
            return sum(map(came_true, found)) / len(found)

        return cls(
            jobs=len(found),
            started_by=share(lambda each: each.started <= each.told.start_by + FORGIVEN_S),
            started_early=share(lambda each: each.started < each.told.start - FORGIVEN_S),
            done_by=share(lambda each: each.finished <= each.told.done_by + FORGIVEN_S),
            done_early=share(lambda each: each.finished < each.told.done - FORGIVEN_S),
            chances=[(each.told.chance, each.met) for each in found if None not in (each.told.chance, each.met)],
        )

    @property
    def foretold(self):
        """How many deadlines are met if the chances are right."""
        return sum(chance for chance, _ in self.chances)

    @property
    def met(self):
        return sum(met for _, met in self.chances)

    def __str__(self):
        return (
            f"forecasts on {self.jobs} Jobs: {self.started_by:.0%} started by the later time and "
            f"{self.started_early:.0%} before the median; {self.done_by:.0%} and {self.done_early:.0%} done; "
            f"{self.foretold:.1f} of {len(self.chances)} deadlines foretold, {self.met} met"
        )
