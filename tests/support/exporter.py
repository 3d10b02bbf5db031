"""What dcgm-exporter, cAdvisor and kube-state-metrics say of a table of GPUs and pods, over HTTP.

The texts have the exporters' exact form: names, labels, HELP and TYPE. A real Prometheus scrapes them
(Prometheus, below), so what a reader sees has gone through its relabelling and staleness.
"""

import dataclasses
import http.server
import json
import ssl
import threading
import time
import urllib.parse
import urllib.request

from support.patience import patient
from support.process import Process, free_ports, wait

EXPORTER_POD = {"namespace": "gpu-operator", "pod": "dcgm-exporter-x", "container": "exporter"}
GIB = 1 << 30


@dataclasses.dataclass
class Gpu:
    """A GPU or, with `profile`, a MIG instance of one; percent and MiB as dcgm-exporter has them."""

    uuid: str
    node: str = "node-1"
    index: int = 0
    util: float = 0
    fb_used: float = 0
    fb_free: float = 81920
    engine: float | None = None  # 0..1; None: the GPU has no profiling counters
    profile: str = ""
    instance: str = ""
    pod: str = ""  # NAMESPACE/NAME
    sharers: tuple = ()  # other pods on it, as the exporter counts them by their processes


@dataclasses.dataclass
class Container:
    """A container's cgroup: cores in use from now on, and its working set."""

    pod: str
    name: str
    cores: float = 0
    memory: int = GIB
    seconds: float = 0
    since: float = dataclasses.field(default_factory=time.monotonic)

    def total(self):
        return self.seconds + self.cores * (time.monotonic() - self.since)


@dataclasses.dataclass
class Machine:
    """A node's cgroup of everything; `node` is the label that the kubelets' ServiceMonitor adds."""

    node: str
    cores: float = 0
    memory: int = 0
    received: float = 0  # bytes a second
    since: float = dataclasses.field(default_factory=time.monotonic)

    def age(self):
        return time.monotonic() - self.since


class Exporter:
    """The three exporters at one address: /dcgm, /cadvisor and /ksm.

    node_label: "hostname", or "Hostname" as before May 2026. pod_labels: False as where the exporter
    does not reach the kubelet (pod=""). Set `down` for HTTP 500 and `not_a_number` for NaN.
    """

    def __init__(self, gpus=(), containers=(), machines=(), node_label="hostname", pod_labels=True):
        self.gpus = list(gpus)
        self.containers = list(containers)
        self.machines = list(machines)
        self.node_label = node_label
        self.pod_labels = pod_labels
        self.down = False
        self.not_a_number = False
        pages = {"/dcgm": self.dcgm, "/cadvisor": self.cadvisor, "/ksm": self.kube_state_metrics}
        exporter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = pages.get(self.path)
                body = page().encode() if page and not exporter.down else b""
                self.send_response(404 if not page else 500 if exporter.down else 200)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def reset_counters(self):
        """As after a restart of the containers in place: their counters begin at zero again."""
        for container in self.containers:
            container.seconds, container.since = 0, time.monotonic()

    def dcgm(self):
        families = [
            ("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", lambda gpu: None if gpu.profile else gpu.util),
            ("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", lambda gpu: gpu.fb_free),
            ("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", lambda gpu: gpu.fb_used),
            ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", lambda gpu: gpu.engine),
        ]
        lines = []
        for name, about, value_of in families:
            of_family = []
            for gpu in self.gpus:
                value = value_of(gpu)
                if value is None:
                    continue
                value = "NaN" if self.not_a_number else f"{value:g}"
                of_family += [f"{name}{{{labels}}} {value}" for labels in self._gpu_labels(gpu)]
            if of_family:
                lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", *of_family]
        return "\n".join(lines) + "\n"

    def _gpu_labels(self, gpu):
        """One series a pod; besides them that of the GPU itself where nobody or several have it."""
        base = (
            f'gpu="{gpu.index}",UUID="{gpu.uuid}",pci_bus_id="00000000:{gpu.index:02X}:00.0",'
            f'device="nvidia{gpu.index}",modelName="NVIDIA A100-SXM4-80GB"'
        )
        if gpu.profile:
            base += f',GPU_I_PROFILE="{gpu.profile}",GPU_I_ID="{gpu.instance}"'
        base += f',{self.node_label}="{gpu.node}",DCGM_FI_DRIVER_VERSION="550.54.15"'
        if not self.pod_labels:
            yield base + ',container="",namespace="",pod=""'
            return
        if not gpu.pod or gpu.sharers:
            yield base
        for number, pod in enumerate([gpu.pod, *gpu.sharers] if gpu.pod else []):
            ns, name = pod.split("/")
            shared = f',vgpu="{number}"' if gpu.sharers else ""
            yield base + f',container="main",namespace="{ns}",pod="{name}"{shared}'

    def cadvisor(self):
        lines = [
            "# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed in seconds.",
            "# TYPE container_cpu_usage_seconds_total counter",
        ]
        memory = [
            "# HELP container_memory_working_set_bytes Current working set in bytes.",
            "# TYPE container_memory_working_set_bytes gauge",
        ]
        network = [
            "# HELP container_network_receive_bytes_total Cumulative count of bytes received",
            "# TYPE container_network_receive_bytes_total counter",
        ]
        for one in self.machines:
            labels = f'container="",id="/",image="",name="",namespace="",node="{one.node}",pod=""'
            lines.append(f'container_cpu_usage_seconds_total{{{labels},cpu="total"}} {one.cores * one.age():.6f}')
            memory.append(f"container_memory_working_set_bytes{{{labels}}} {one.memory}")
            for interface, rate in (("eth0", one.received), ("cali123", one.received), ("lo", 1e9)):
                network.append(
                    f'container_network_receive_bytes_total{{{labels},interface="{interface}"}} {rate * one.age():.0f}'
                )
        of_pods = {}
        for one in self.containers:
            of_pods.setdefault(one.pod, []).append((one.name, one.total(), one.memory))
        for pod, parts in of_pods.items():
            ns, name = pod.split("/")
            everything = ("", sum(part[1] for part in parts), sum(part[2] for part in parts))
            for container, seconds, size in [*parts, ("POD", 0.01, 4096), everything]:
                path = f"/kubepods/pod-{name}" + (f"/{container}" if container else "")
                image = "registry.k8s.io/pause:3.10" if container == "POD" else "train:1" if container else ""
                labels = f'container="{container}",id="{path}",image="{image}",name="",namespace="{ns}",pod="{name}"'
                lines.append(f'container_cpu_usage_seconds_total{{{labels[:-1]}",cpu="total"}} {seconds:.6f}')
                memory.append(f"container_memory_working_set_bytes{{{labels}}} {size}")
        return "\n".join([*lines, *memory, *(network if self.machines else ())]) + "\n"

    def kube_state_metrics(self):
        name = "kube_pod_container_resource_requests"
        lines = [
            f"# HELP {name} The number of requested request resource by a container.",
            f"# TYPE {name} gauge",
        ]
        counts = {}
        for gpu in self.gpus:
            for pod in [gpu.pod, *gpu.sharers] if gpu.pod else []:
                key = (pod, gpu.node, f"nvidia_com_mig_{gpu.profile}" if gpu.profile else "nvidia_com_gpu")
                counts[key] = counts.get(key, 0) + 1
        for (pod, node, resource), count in counts.items():
            ns, pod_name = pod.split("/")
            lines.append(
                f'{name}{{namespace="{ns}",pod="{pod_name}",uid="u-{pod_name}",container="main",node="{node}",'
                f'resource="{resource.replace(".", "_")}",unit="integer"}} {count}'
            )
        return "\n".join(lines) + "\n"


class Prometheus:
    """Debian's Prometheus on a free port; scrapes an exporter every second.

    honor_labels as in the ServiceMonitor; `scrapes` jobs scrape the same exporter. The target has the
    labels of the exporter's own pod, as Prometheus' operator sets them. With a `pki` it answers over
    TLS, below `prefix`.
    """

    def __init__(self, exporter, directory, honor_labels, scrapes=1, pki=None, prefix=""):
        directory.mkdir(parents=True, exist_ok=True)
        jobs = "".join(
            f"- job_name: {job}-{number}\n"
            f"  metrics_path: /{job}\n"
            f"  honor_labels: {str(honor).lower()}\n"
            f"  static_configs: [{{targets: ['{exporter.address}'], labels: {labels}}}]\n"
            for number in range(scrapes)
            for job, honor, labels in [
                ("dcgm", honor_labels, EXPORTER_POD),
                ("cadvisor", honor_labels, EXPORTER_POD),
                ("ksm", True, {}),
            ]
        )
        config = directory / "prometheus.yml"
        config.write_text(f"global: {{scrape_interval: 1s, scrape_timeout: 1s}}\nscrape_configs:\n{jobs}")
        self._targets = 3 * scrapes
        [port] = free_ports(1)
        self.url = f"{'https' if pki else 'http'}://127.0.0.1:{port}{prefix}"
        web = directory / "web.yml"
        web.write_text(
            f"tls_server_config: {{cert_file: {pki.crt('extender')}, key_file: {pki.key('extender')}}}\n" if pki else ""
        )
        self.process = Process(
            "prometheus",
            [
                "prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}", f"--web.config.file={web}",
                f"--web.route-prefix={prefix or '/'}",
            ],
            directory / "prometheus.log",
        )  # fmt: skip

    def start(self):
        self.process.start()
        return self

    def wait_scraped(self, times=1):
        """Until every target was scraped so many times; the first time that takes it five seconds."""
        query = urllib.parse.urlencode({"query": f"sum_over_time(up[1h]) >= {times} and up == 1"})
        context = ssl._create_unverified_context()

        def scraped():
            self.process.must_live()
            with urllib.request.urlopen(
                f"{self.url}/api/v1/query?{query}", timeout=patient(5), context=context
            ) as answer:
                return len(json.load(answer)["data"]["result"]) == self._targets

        wait(scraped, 30, "Prometheus to scrape every target")
        return self

    def kill(self):
        self.process.kill()
