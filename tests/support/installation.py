"""Slackline as `kubectl apply -k` or helm installs it, run on a real control plane."""

import base64
import json
import os
import re
import subprocess
import threading

from support.controlplane import KUBERNETES, ROOT
from support.daemon import Daemon, slackline_binary
from support.helm import CHART, helm, rendered
from support.objects import MANAGED, TEAM, gpu_job, has_ended, name_of
from support.process import Process, free_ports, on_host

SYSTEM = "slackline-system"
WEBHOOK = ROOT / "deploy" / "webhook"
BASE = ROOT / "deploy" / "base"


def webhook_manifests(port, authority=None):
    """deploy/webhook as it is, but called on a loopback port instead of through a Service.

    With the file of an authority also trusted, as an administrator would write it.
    """
    texts = [(WEBHOOK / name).read_text() for name in ("mutating.yaml", "validating.yaml")]
    service = re.compile(r"      service:\n        name: .*\n        namespace: .*\n        path: (\S+)\n")
    called = rf"      url: https://127.0.0.1:{port}\1\n"
    if authority:
        called += f"      caBundle: {base64.b64encode(authority.read_bytes()).decode()}\n"
    text, found = service.subn(called, "\n---\n".join(texts))
    assert found == 6, f"deploy/webhook has {found} webhooks, not six"
    return text


def wait_leading(cluster, daemon):
    cluster.wait(lambda: daemon.total("slackline_leader") == 1, 40, "it to lead")


def wait_webhook(cluster, namespace):
    """Until the API server knows the webhook and trusts its certificate: a wrong Job is refused."""
    probe = gpu_job("probe", namespace=namespace, annotations={"qos-class": "unheard-of"})
    path = cluster.collection("job", namespace) + "?dryRun=All"
    cluster.wait(lambda: cluster.request("POST", path, probe)[0] != 201, 30, "the webhook's word")


class SchedulerVolumes:
    """The volumes of gpu-scheduler's pods, kept as a kubelet does: a link is swapped to what is new.

    `client.pem` beside them is certificate and key in one file, for clients that read only one.
    """

    def __init__(self, installed):
        self.directory = installed.cluster.directory / "gpu-scheduler-volumes"
        self.directory.mkdir(exist_ok=True)
        self._installed = installed
        self._shown = None
        self._versions = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def wait(self):
        """Until both objects are filled, as the pods wait; then what comes is followed."""
        self._installed.cluster.wait(self.sync, 20, "what kube-scheduler and Slackline know each other by")
        if not self._thread.is_alive():
            self._thread.start()

    def file(self, name):
        return self.directory / "..data" / name

    def sync(self):
        now = self._installed.trust(), self._installed.client()
        if not all(now):
            return False
        if now != self._shown:
            self._versions += 1
            folder = self.directory / f"..{self._versions}"
            folder.mkdir()
            (certificate, key) = now[1]
            for name, text in {
                "ca.crt": now[0], "tls.crt": certificate, "tls.key": key, "client.pem": certificate + key,
            }.items():  # fmt: skip
                (folder / name).write_text(text)
            link = self.directory / "..link"
            link.symlink_to(folder)
            os.replace(link, self.directory / "..data")
            self._shown = now
        return True

    def _follow(self):
        while not self._ended.wait(0.3):
            try:
                self.sync()
            except OSError:  # the API server has gone, with the test
                return


class InstalledDaemon(Daemon):
    """`slackline serve` on the configuration of the installed ConfigMap."""

    settings = ""  # further keys, as YAML

    def __init__(self, cluster, kubeconfig, directory, host=None):
        super().__init__(None, directory)
        self.kubeconfig = kubeconfig
        self.webhook_port, self.remote_port = free_ports(2)
        self.configure(cluster)
        self.process = Process(
            "slackline",
            on_host(host, [slackline_binary(), "serve", "--config", self.config, "--kubeconfig", self.kubeconfig,
                           "--listen-api", f"127.0.0.1:{self.api_port}", "--grace", "0"]),
            directory / "slackline.log",
        )  # fmt: skip

    def configure(self, cluster):
        """Writes the configuration that is installed now, with the addresses and paths of here."""
        text = cluster.get("configmap", SYSTEM, "slackline")["data"]["slackline.yaml"]
        alone = "address: 127.0.0.1:8181" in text  # with kube-scheduler, in its pod
        for ours, here in {
            f"address: {'127.0.0.1' if alone else ''}:8181": f"address: {'127.0.0.1' if alone else '0.0.0.0'}:{self.extender_port}",
            "address: :10250": f"address: 127.0.0.1:{self.webhook_port}",
            "address: :8183": f"address: 0.0.0.0:{self.remote_port}",
            "address: :8182": f"address: 127.0.0.1:{self.metrics_port}",
            "/var/lib/slackline": str(self.config.parent),
        }.items():
            assert text.count(ours) == 1, f"the ConfigMap says {ours} {text.count(ours)} times"
            text = text.replace(ours, here)
        # The API server calls the webhook here by its address, not through a Service; and what is done
        # every ten minutes happens while a test looks.
        self.config.write_text(
            text + "webhook: {certificate: {names: [127.0.0.1]}}\ncluster: {auditInterval: 2s}\n" + self.settings
        )


def documents(cluster, folder):
    """What `kubectl kustomize` makes of a folder, as objects."""
    return _objects(cluster, "-k", folder)


def parsed(cluster, text):
    """Manifests as objects."""
    return _objects(cluster, "-f", "-", input=text)


def _objects(cluster, *source, **how):
    text = cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", *source, **how)
    decoder, objects = json.JSONDecoder(), []
    while text := text.lstrip():
        found, end = decoder.raw_decode(text)
        objects += found.get("items", [found])
        text = text[end:]
    return objects


class Installation:
    """What `kubectl apply -k` or helm installed in a cluster, with daemon and GPU scheduler that run on it.

    One replica of each. No pod of ours runs there (KWOK plays the kubelets), so both run beside the cluster: on the
    configurations and with the ServiceAccounts that were installed. Only addresses and paths differ.
    """

    def __init__(self, cluster):
        """`run` is to be called once it is installed, with gpu-scheduler beside (`apply_chart`)."""
        self.cluster = cluster
        self.directory = cluster.directory
        self.replica = ""
        self.host = None  # its name; None: this one's
        self.daemon = None
        self.volumes = SchedulerVolumes(self)

    def run(self):
        self.run_as_installed(self.point_webhooks_here)

    def run_as_installed(self, prepare=lambda: None):
        """Without webhooks that reach it: here nothing leads to the address of a Service."""
        self.start_daemon(prepare)
        self.start_scheduler()

    def start_daemon(self, prepare):
        self.daemon = InstalledDaemon(self.cluster, self.daemon_kubeconfig(), self.directory, self.host)
        self.cluster.adopt(self.daemon.process, f"slackline{self.replica}")
        prepare()
        self.daemon.start()

    def daemon_kubeconfig(self):
        return self.cluster.service_account_kubeconfig(SYSTEM, "slackline")

    def point_webhooks_here(self):
        self.cluster.apply(webhook_manifests(self.daemon.webhook_port))

    def wait_active(self, namespace):
        """Until a replica plans, and new Jobs of the namespace are queued."""
        wait_leading(self.cluster, self.daemon)
        wait_webhook(self.cluster, namespace)

    def release_kubeconfig(self):
        """Of the account that `slackline release` has."""
        return self.cluster.service_account_kubeconfig(SYSTEM, "slackline-release")

    def release(self, *arguments):
        """`slackline release` with the account that its pods have: (exit code, what it said)."""
        done = subprocess.run(
            [slackline_binary(), *arguments, "--kubeconfig", self.release_kubeconfig()],
            text=True, capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def run_remove_job(self):
        """The Job slackline-remove, as a kubelet runs its pod: (exit code, what it said)."""
        cluster = self.cluster

        def pending():  # and not of an attempt before
            return [pod for pod in cluster.pods_of("slackline-remove", SYSTEM) if not has_ended(pod)]

        (pod,) = cluster.wait(pending, 30, "the pod that removes Slackline")
        assert pod["spec"]["serviceAccountName"] == "slackline-release"
        (container,) = pod["spec"]["containers"]
        code, said = self.release(*container["args"])
        state = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error"}}
        told = {"name": container["name"], "image": "i", "imageID": "", "ready": False, "restartCount": 0}
        status = {"phase": "Succeeded" if code == 0 else "Failed", "containerStatuses": [{**told, "state": state}]}
        path = f"{cluster.collection('pod', SYSTEM)}/{name_of(pod)}/status"
        answer = cluster.request("PATCH", path, {"status": status})
        assert answer[0] == 200, answer
        return code, said

    def helm_uninstall(self):
        """((helm's exit status, its words), the same of its hook)."""
        told = []
        command = ("uninstall", "slackline", "-n", SYSTEM, "--timeout", "100s")
        admin = self.cluster.pki_kubeconfig("admin")
        running = threading.Thread(target=lambda: told.append(helm(*command, kubeconfig=admin)))
        running.start()
        try:
            hook = self.run_remove_job()
        finally:
            running.join()
        return told[0], hook

    def restart(self):
        """What a rollout does: the daemon begins again, on the configuration as it is now."""
        assert self.daemon.stop() == 0
        self.daemon.configure(self.cluster)
        self.daemon.start()

    def start_scheduler(self):
        """Starts gpu-scheduler anew; it reads whom it trusts now."""
        account = self.cluster.service_account_kubeconfig("kube-system", "gpu-scheduler")
        self.volumes.wait()
        (installed,) = [
            each["data"]["configuration.yaml"]
            for each in self.cluster.list("configmap", "kube-system")
            if name_of(each).startswith("gpu-scheduler-configuration")
        ]
        here = {
            "caFile": self.volumes.file("ca.crt"),
            "certFile": self.volumes.file("tls.crt"),
            "keyFile": self.volumes.file("tls.key"),
        }
        self.start_scheduler_on(installed, f"https://127.0.0.1:{self.daemon.extender_port}/v1/extender", account, here)

    def start_scheduler_on(self, configuration, url, account, here=None):
        """With the addresses and paths of here; `here` has further keys and their values."""
        values = {"clientConnection": f"\n  kubeconfig: {account}", "urlPrefix": url, **(here or {})}
        for key, value in values.items():
            configuration, found = re.subn(f"{key}: ?.*", f"{key}: {value}", configuration)
            assert found == 1, f"{key} is there {found} times"
        if (name := f"gpu-scheduler{self.replica}") in self.cluster.parts:
            self.cluster.kill(name)
        self.cluster.start_scheduler(configuration, name, account, self.host)

    def trust(self):
        """The authorities that kube-scheduler is told to trust; None before."""
        said = self.cluster.get("configmap", "kube-system", "slackline-extender-ca") or {}
        return said.get("data", {}).get("ca.crt")

    def client(self):
        """Certificate and key that kube-scheduler shows; None before."""
        secret = self.cluster.get("secret", "kube-system", "slackline-extender-client") or {}
        shown = secret.get("data", {})
        if "tls.crt" not in shown:
            return None
        return tuple(base64.b64decode(shown[name]).decode() for name in ("tls.crt", "tls.key"))


class PodVolumes:
    """The volumes of a pod, as a kubelet mounts them; `cluster`, `namespace`, `spec` and `directory` are whose they are."""

    def container(self, name):
        (found,) = [each for each in self.spec["containers"] if each["name"] == name]
        return found

    def mounted(self, name):
        """The root folder of a container, as a kubelet makes it of the pod's volumes."""
        root = self.directory / name
        volumes = {each["name"]: each for each in self.spec["volumes"]}
        for wanted in self.container(name)["volumeMounts"]:
            folder = root / wanted["mountPath"].lstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
            for path, content in self._contents(volumes[wanted["name"]]).items():
                (folder / path).write_text(content)
        return root

    def _data(self, kind, name):
        found = self.cluster.get(kind, self.namespace, name) or {}
        data = found.get("data", {})
        return {key: base64.b64decode(each).decode() for key, each in data.items()} if kind == "secret" else data

    def _contents(self, volume):
        """{path: text} of a volume."""
        if "secret" in volume:
            return self._chosen("secret", volume["secret"]["secretName"], volume["secret"])
        if "configMap" in volume:
            return self._chosen("configmap", volume["configMap"]["name"], volume["configMap"])
        contents = {}
        for source in volume.get("projected", {}).get("sources", []):
            if "configMap" in source:
                contents |= self._chosen("configmap", source["configMap"]["name"], source["configMap"])
            elif "serviceAccountToken" in source:
                account = self.spec["serviceAccountName"]
                contents[source["serviceAccountToken"]["path"]] = self.cluster.service_account_token(
                    self.namespace, account
                )
            else:
                (item,) = source["downwardAPI"]["items"]
                assert item["fieldRef"]["fieldPath"] == "metadata.namespace"
                contents[item["path"]] = self.namespace
        return contents

    def _chosen(self, kind, name, volume):
        data = self._data(kind, name)
        if "items" in volume:
            return {each["path"]: data[each["key"]] for each in volume["items"]}
        return data


class PodInstallation(PodVolumes, Installation):
    """The form `pod`: both containers of a pod on one loopback and with its name, each with the volumes that it mounts and no others."""

    def __init__(self, cluster, replica=""):
        """`run` is to be called once deploy/base or the chart is installed; for a further replica, `run_as_installed`."""
        super().__init__(cluster)
        self.replica = replica
        self.host = f"slackline{replica or '-0'}"
        self.namespace = SYSTEM
        self.directory = cluster.directory / f"pod{replica}"
        self.spec = cluster.get("statefulset", SYSTEM, "slackline")["spec"]["template"]["spec"]
        cluster.wait(lambda: "token" in self._data("secret", "gpu-scheduler-token"), 20, "Kubernetes to fill the token")

    def account(self, name):
        """A kubeconfig of what a container finds where Kubernetes puts the account of a pod."""
        folder = self.mounted(name) / "var/run/secrets/kubernetes.io/serviceaccount"
        path = self.directory / f"{name}.kubeconfig"
        self.cluster.pki.kubeconfig(path, self.cluster.url, [f"tokenFile: {folder / 'token'}"])
        path.write_text(path.read_text().replace(str(self.cluster.pki.crt("ca")), str(folder / "ca.crt")))
        return path

    def daemon_kubeconfig(self):
        return self.account("slackline")

    def point_webhooks_here(self):
        # helm knows nothing of what apply would have noted; and apply goes on from what is noted here.
        self.cluster.kubectl("replace", "--save-config", "-f", "-", input=webhook_manifests(self.daemon.webhook_port))

    def start_scheduler(self):
        (named,) = [each for each in self.container("kube-scheduler")["command"] if each.startswith("--config=/")]
        configuration = self.mounted("kube-scheduler") / named.removeprefix("--config=/")
        self.start_scheduler_on(configuration.read_text(), self.daemon.extender_url, self.account("kube-scheduler"))


def apply_base(cluster):
    """deploy/base, whose form is `pod`."""
    cluster.kubectl("apply", "--validate=strict", "--warnings-as-errors", "-k", BASE)


def apply_chart(cluster, form):
    """The chart's manifests by kubectl, in active mode and another form than `pod`."""
    values = f"mode: active\ncreateNamespace: true\nkubeScheduler: {{form: {form}}}\n"
    cluster.apply(rendered(values, SYSTEM, "--no-hooks"))


def install_in_pods(cluster, *more):
    """The chart's form `pod`, in active mode, with its first replica; `more` goes to `helm install`."""
    cluster.add_gpu_nodes(2, 4, "K80", prefix="k80")
    status, said = helm(
        "install", "slackline", CHART, "-n", SYSTEM, "--create-namespace", "--set", "mode=active",
        "--set", f"kubeScheduler.tag={KUBERNETES}", "--set", "kubeScheduler.form=pod", *more,
        kubeconfig=cluster.pki_kubeconfig("admin"),
    )  # fmt: skip
    assert status == 0, said
    cluster.add_namespace(TEAM, MANAGED)
    installed = PodInstallation(cluster)
    installed.run()
    installed.wait_active(TEAM)
    return installed
