"""The daemon under test: the real binary, as a child process, and what it says about itself."""

import http.client
import json
import os
import pathlib
import re
import subprocess

from support.patience import patient
from support.process import Process, free_ports, wait

ROOT = pathlib.Path(__file__).resolve().parents[2]
_CONFIG_HEAD = """\
apiVersion: config.slackline.dev/v1alpha1
kind: SlacklineConfiguration
"""
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def slackline_binary():
    """$SLACKLINE_BIN, else the release build; AssertionError where there is none."""
    path = pathlib.Path(os.environ.get("SLACKLINE_BIN") or ROOT / "build/release/slackline")
    if not os.access(path, os.X_OK):
        raise AssertionError(f"no program at {path}: run `make build`, or set SLACKLINE_BIN")
    return path


def slackline(*arguments):
    """Runs a subcommand and returns what it printed; raises AssertionError on failure."""
    done = subprocess.run([slackline_binary(), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"slackline {arguments}: {done.stderr}"
    return done.stdout


def parse_metrics(text):
    """Prometheus text -> {(name, frozenset of label pairs): value}."""
    samples = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            found = _SAMPLE.match(line)
            assert found, f"not a metrics line: {line!r}"
            labels = frozenset(_LABEL.findall(found[2] or ""))
            samples[(found[1], labels)] = float(found[3])
    return samples


class Daemon:
    """`slackline serve` on three loopback ports that survive a restart, with its store.

    What it answers to get() of REST is checked against its own /openapi.json.

    Follows the API server of `kubeconfig`; without one, the flags say what (`--cluster file:DUMP`).
    `settings` is the YAML of its configuration, without the head that every one has. Without a
    `store` it has slackline.db in the directory; None: the flag is left out.
    """

    _contract = None  # of the program, for all of its runs

    def __init__(self, kubeconfig, directory, mode="advise", detached=False, flags=(), settings="", store=""):
        directory = pathlib.Path(directory)
        directory.mkdir(exist_ok=True)
        self.config = directory / "slackline.yaml"
        if settings:
            self.config.write_text(_CONFIG_HEAD + settings)
            flags = ["--config", self.config, *flags]
        self.extender_port, self.api_port, self.metrics_port = free_ports(3)
        self.extender_url = f"http://127.0.0.1:{self.extender_port}/v1/extender"
        self.api_url = f"http://127.0.0.1:{self.api_port}"
        self.metrics_url = f"http://127.0.0.1:{self.metrics_port}"
        self.process = Process(
            "slackline",
            [
                slackline_binary(), "serve",
                *(["--cluster", "kube", "--kubeconfig", kubeconfig] if kubeconfig else []),
                *([] if store is None else ["--store", store or directory / "slackline.db"]), "--mode", mode,
                "--listen-extender", f"127.0.0.1:{self.extender_port}",
                "--listen-api", f"127.0.0.1:{self.api_port}",
                "--listen-metrics", f"127.0.0.1:{self.metrics_port}", *flags,
            ],
            directory / "slackline.log",
            detached=detached,
        )  # fmt: skip

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def start(self, timeout=20):
        """Starts it and waits until it is ready."""
        self.process.start()
        self.wait_ready(timeout)
        return self

    def wait_ready(self, timeout=20):
        def ready():
            self.process.must_live()
            return self.get("/readyz", port=self.metrics_port)[0] == 200

        wait(ready, timeout, "slackline to be ready")

    def kill(self):
        """kill -9."""
        self.process.kill()

    def stop(self):
        """SIGTERM; returns the exit status, which is 0 after a graceful end."""
        return self.process.stop()

    def restart(self):
        self.kill()
        return self.start()

    def get(self, path, port=None, accept="application/json"):
        """GET from the API (or another port of it): (status, text)."""
        status, media, text = self._exchange(path, port or self.api_port, accept)
        if port in (None, self.api_port):
            self._promised().check("GET", path, status, media, text)
        return status, text

    @staticmethod
    def _exchange(path, port, accept):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=patient(5))
        try:
            link.request("GET", path, headers={"Accept": accept})
            answer = link.getresponse()
            return answer.status, answer.getheader("Content-Type", ""), answer.read().decode()
        finally:
            link.close()

    def _promised(self):
        if Daemon._contract is None:
            from support.openapi import Contract  # needs scripts/browser-tools, which not every script has

            Daemon._contract = Contract(json.loads(self._exchange("/openapi.json", self.api_port, "*/*")[2]))
        return Daemon._contract

    def post(self, path, body, port=None):
        """POST to the extender listener (or another port): (status, text)."""
        link = http.client.HTTPConnection("127.0.0.1", port or self.extender_port, timeout=patient(5))
        try:
            link.request("POST", path, body, {"Content-Type": "application/json"})
            answer = link.getresponse()
            return answer.status, answer.read().decode()
        finally:
            link.close()

    def metrics(self):
        status, text = self.get("/metrics", port=self.metrics_port, accept="text/plain")
        assert status == 200, f"GET /metrics: {status}"
        return parse_metrics(text)

    def total(self, name, **labels):
        """The sum over all series of a metric that carry the given labels."""
        wanted = set(labels.items())
        return sum(value for (each, has), value in self.metrics().items() if each == name and wanted <= has)

    def quantile_s(self, name, share, before=None):
        """A quantile of a histogram, between its bounds; since `before`, an earlier metrics()."""
        now, earlier = self.metrics(), before or {}
        buckets = sorted(
            (float(dict(labels)["le"]), count - earlier.get((each, labels), 0))
            for (each, labels), count in now.items()
            if each == f"{name}_bucket"
        )
        wanted = share * buckets[-1][1]
        below, counted = 0.0, 0.0
        for bound, count in buckets:
            if count >= wanted and count > counted:
                if bound == float("inf"):
                    return below
                return below + (bound - below) * (wanted - counted) / (count - counted)
            below, counted = bound, count
        return float("nan")

    def cpu_s(self):
        """Processor seconds that it has used."""
        ticks = self._stat("stat").rsplit(")", 1)[1].split()
        return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self):
        """Memory that it holds, now and at most, in MB."""
        text = self._stat("status")
        return [int(re.search(rf"{key}:\s+(\d+)", text)[1]) / 1024 for key in ("VmRSS", "VmHWM")]

    def _stat(self, what):
        return pathlib.Path(f"/proc/{self.process.pid}/{what}").read_text()

    def requests(self, verb, **labels):
        """How many calls of an extender verb it has answered since it started."""
        return self.total("slackline_extender_requests_total", verb=verb, **labels)
