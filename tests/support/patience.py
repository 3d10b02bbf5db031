"""How long is long enough here and now: the one place that knows how slow this machine is.

Limits are written for a machine that has nothing else to do. `patient` stretches them by its speed, measured once by a
short fixed piece of work, and by its load, read anew each time because compilers beside the tests come and go. A test's own
times (how long a Job runs, how long nothing may happen) are not stretched.
"""

import functools
import os
import sys
import time

_MOST = 6
_RECORDED_S = 0.010  # processor time of the work below, on the machine where the limits were tried


def patient(seconds):
    """A limit of waiting, or a bound of a duration, as it is on this machine now: 1 to 6 times as long."""
    return seconds * slowness(_measured(), os.getloadavg()[0] / os.cpu_count())


def busy(processor_time):
    """A bound of processor time, as it is on this machine now: a neighbour on the same core costs up to its half."""
    return processor_time * min(2, max(1, _measured()[0]))


def slowness(measured, load):
    """From the slowness that was measured and the processes that want a processor, of each processor."""
    speed, contention = measured
    return min(_MOST, max(1, speed) * max(1, contention, load))


@functools.cache
def _measured():
    """(processor time of the fixed work against the recorded one, its time on the clock against its processor time)."""
    on_clock, spent = time.monotonic(), []
    for _ in range(10):
        before = time.thread_time()
        sum(i * i % 7 for i in range(200_000))
        spent.append(time.thread_time() - before)
    measured = min(spent) / _RECORDED_S, (time.monotonic() - on_clock) / sum(spent)
    load = os.getloadavg()[0] / os.cpu_count()
    if "unittest" in sys.modules:  # neither the demo nor a benchmark speaks of its limits
        print(
            f"limits of waiting x {slowness(measured, load):.1f}: {measured[0]:.1f} times the recorded processor time,"
            f" {measured[1]:.1f} of it on the clock, load {load:.1f} of each core",
            flush=True,
        )
    return measured
