"""One child process with a log file, which never outlives the test run."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import time

from support.patience import patient

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


# Below what the kernel gives to connections: none can take a port that is about to be listened on,
# or that a part waits to have back. Processes begin at places of their own, so that they do not meet.
_FIRST, _END = 10000, 32000
_next_port = _FIRST + os.getpid() * 331 % (_END - _FIRST)


def free_ports(count):
    """`count` TCP ports of the loopback interface that are free at this moment; none twice."""
    global _next_port
    found = []
    while len(found) < count:
        port = _next_port
        _next_port = port + 1 if port + 1 < _END else _FIRST
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
    return found


def wait(condition, timeout, what, every=0.05):
    """Calls `condition` until it returns something true, and returns that.

    Connection errors count as "not yet". Raises AssertionError naming `what` after `timeout` s, or longer on a slow
    machine.
    """
    began = time.monotonic()
    last_error = None
    while True:
        try:
            result = condition()
            if result:
                return result
            last_error = None
        except OSError as error:
            last_error = error
        waited_s = time.monotonic() - began
        if waited_s > patient(timeout):
            because = f" (last error: {last_error})" if last_error else ""
            raise AssertionError(f"waited {waited_s:.0f} s in vain for {what}{because}")
        time.sleep(every)


def settled(measure, quiet_s, what):
    """Waits until what `measure` returns has not changed for `quiet_s` s, and returns that."""
    value, since = measure(), time.monotonic()

    def quiet():
        nonlocal value, since
        if (now := measure()) != value:
            value, since = now, time.monotonic()
        return time.monotonic() - since > patient(quiet_s)

    wait(quiet, 60, what)
    return value


def on_host(name, argv):
    """The command on a host of that name, as a container has the name of its pod; None: on this one."""
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name, *argv] if name else argv


class Process:
    """A command line, its log file, and verbs to start, stop and kill it.

    The kernel kills the child when the thread that started it dies, so start it from the main
    thread; `detached` children are left alone (the demo's KEEP=1).
    """

    def __init__(self, name, argv, log, detached=False, env=None):
        self.name = name
        self.argv = [str(each) for each in argv]
        self.log = pathlib.Path(log)
        self._detached = detached
        self._env = env
        self._child = None

    @property
    def pid(self):
        return self._child.pid

    def alive(self):
        return self._child is not None and self._child.poll() is None

    def exit_status(self):
        """The exit status, negative for a signal; None while running or never started."""
        return self._child.poll() if self._child else None

    def start(self):
        assert not self.alive(), f"{self.name} runs already"
        parent = os.getpid()

        def die_with_parent():
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        with open(self.log, "ab") as log:
            self._child = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._env,
                start_new_session=True,
                preexec_fn=None if self._detached else die_with_parent,
            )
        return self

    def stop(self, timeout=10):
        """Asks with SIGTERM, insists with SIGKILL after `timeout` s; returns the exit status."""
        if self.alive():
            self._child.terminate()
            try:
                self._child.wait(patient(timeout))
            except subprocess.TimeoutExpired:
                self.kill()
        return self.exit_status()

    def kill(self):
        """kill -9, and reaps."""
        if self._child is not None:
            if self.alive():
                self._child.kill()
            self._child.wait()

    def must_live(self):
        if not self.alive():
            status = self.exit_status()
            raise AssertionError(f"{self.name} ended with status {status}:\n{self.tail()}")

    def tail(self, lines=15):
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
