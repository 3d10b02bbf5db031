"""A real Kubernetes control plane on loopback, one process per part, for tests and the demo.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler are the programs built by
scripts/build-controlplane; KWOK plays the kubelets (tests/controlplane/kwok.yaml). Every cluster
lives in a directory of its own, on ports of its own, and goes when it is closed or when the process
that made it ends.

    with ControlPlane() as cluster:
        cluster.add_gpu_nodes(4, 4, "K80")
        cluster.start_scheduler(gpu_scheduler_config(cluster, "http://127.0.0.1:8181/v1/extender"))
        cluster.apply(some_yaml)
"""

import atexit
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import tempfile
import time

from support.objects import GPU, bound_and_live, gpu_node, node_of
from support.patience import patient
from support.pki import Pki
from support.process import Process, free_ports, on_host, wait

ROOT = pathlib.Path(__file__).resolve().parents[2]
_LANE = os.environ.get("KUBERNETES", "")  # another version than CI's, e.g. "1.34" (scripts/test-lanes)
_MODULE = ROOT / "tests" / "controlplane" / (f"lanes/{_LANE}.mod" if _LANE else "go.mod")
KUBERNETES = re.search(r"k8s\.io/kubernetes (v\S+)", _MODULE.read_text())[1]
MINOR = int(KUBERNETES.split(".")[1])
TEMPLATES_ARE_OPEN = MINOR >= 36  # of suspended Jobs; before that Slackline changes pods instead
BINARIES = ROOT / ".cache" / (f"controlplane-{_LANE}" if _LANE else "controlplane")
GPU_SCHEDULER = ROOT / "deploy" / "kube-scheduler" / "gpu-scheduler.yaml"
KWOK_STAGES = ROOT / "tests" / "controlplane" / "kwok.yaml"
AUDIT_POLICY = ROOT / "tests" / "controlplane" / "audit-policy.yaml"
DAEMON_USER = "system:serviceaccount:slackline-system:slackline"
SCHEDULER_USER = "system:kube-scheduler"

_CONTROLLERS = (
    "serviceaccount-controller,serviceaccount-token-controller,root-ca-certificate-publisher-controller,namespace-controller,"
    "garbage-collector-controller,pod-garbage-collector-controller,disruption-controller,"
    "job-controller,replicaset-controller,deployment-controller,resourcequota-controller,"
    "clusterrole-aggregation-controller,endpoints-controller"
)
_NODE_CONTROLLERS = ",node-lifecycle-controller,taint-eviction-controller"  # they want heartbeats
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_COLLECTIONS = {
    "node": "/api/v1/nodes",
    "pod": "/api/v1/{ns}pods",
    "event": "/api/v1/{ns}events",
    "configmap": "/api/v1/{ns}configmaps",
    "secret": "/api/v1/{ns}secrets",
    "namespace": "/api/v1/namespaces",
    "serviceaccount": "/api/v1/{ns}serviceaccounts",
    "job": "/apis/batch/v1/{ns}jobs",
    "replicaset": "/apis/apps/v1/{ns}replicasets",
    "statefulset": "/apis/apps/v1/{ns}statefulsets",
    "poddisruptionbudget": "/apis/policy/v1/{ns}poddisruptionbudgets",
    "priorityclass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "mutatingwebhookconfiguration": f"{_WEBHOOKS}/mutatingwebhookconfigurations",
    "validatingwebhookconfiguration": f"{_WEBHOOKS}/validatingwebhookconfigurations",
}


def gpu_scheduler_config(cluster, extender_url, backoff_s=(1, 2), **changes):
    """Our documented scheduler configuration, changed only where a test machine must differ.

    Keywords replace further keys of that file, e.g. `nodeCacheCapable="false"`. With an http://
    address the TLS block goes; with https:// it names the test CA, whose certificates name localhost, and
    kube-scheduler's own certificate.
    """
    text = GPU_SCHEDULER.read_text()
    tls = extender_url.startswith("https://")
    values = {
        "kubeconfig": cluster.pki_kubeconfig("scheduler"),
        "leaderElect": "false",
        "podInitialBackoffSeconds": backoff_s[0],
        "podMaxBackoffSeconds": backoff_s[1],
        "urlPrefix": extender_url,
        "enableHTTPS": str(tls).lower(),
        "caFile": cluster.pki.crt("ca"),
        "certFile": cluster.pki.crt("scheduler"),
        "keyFile": cluster.pki.key("scheduler"),
        "serverName": "localhost",
        **changes,
    }
    for key, value in values.items():
        text, found = re.subn(rf"(?m)^(\s*(?:- )?{key}:).*$", lambda m: f"{m[1]} {value}", text)
        if found != 1:
            raise AssertionError(f"{GPU_SCHEDULER} has {found} lines with the key {key}, not one")
    if not tls:
        text = re.sub(r"(?m)^ *tlsConfig:.*\n(?:      .*\n)*", "", text)
    return text


def stock_scheduler_config(cluster, scheduler_name="gpu-scheduler", **changes):
    """The same scheduler without any extender: what a cluster without us does."""
    changes["schedulerName"] = scheduler_name
    text = gpu_scheduler_config(cluster, "http://127.0.0.1:1/none", **changes)
    return text[: text.index("extenders:")]


class ControlPlane:
    """One running cluster. Not thread-safe; `request` and what reads through it is."""

    def __init__(self, directory=None, keep=False, say=lambda line: None, kubelets=True,
                 shows_certificate=False, aggregates=False, emulates=None):  # fmt: skip
        """`keep` leaves the processes running at the end; `say` hears each step of the start.

        Without `kubelets` there is no KWOK: nodes stay as they were written (support/objects.py,
        gpu_node(ready=True)), and bound pods do not start. For thousands of nodes.

        With `shows_certificate` the API server presents one to the webhooks that it calls; with
        `aggregates` one to APIs behind it, as every installer sets it up. It serves what the older
        version `emulates` ("1.35") served.
        """
        if not (BINARIES / "stamp").exists():
            raise AssertionError("the control plane is not built: run scripts/build-controlplane")
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="slackline-cluster-"))
        self.directory.mkdir(parents=True, exist_ok=True)
        self.parts = {}
        self._keep = keep
        self._say = say
        self._kubelets = kubelets
        self._shows_certificate = shows_certificate
        self._aggregates = aggregates
        self._emulates = emulates
        self._scratch = directory is None
        self._audit_log = self.directory / "audit.log"
        atexit.register(self.close)
        try:
            self._bring_up()
        except BaseException:
            self.abandon()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- parts ---------------------------------------------------------------------------------

    def start_scheduler(self, config, name="kube-scheduler", account=None, host=None):
        """Starts a kube-scheduler on a configuration text and waits until it is healthy.

        `account` is the kubeconfig by which it asks who reads its metrics; by default the stock one. `host` is its host's
        name, if it is not this one's.
        """
        path = self.directory / f"{name}.yaml"
        path.write_text(config)
        (port,) = free_ports(1)
        account = account or self.pki_kubeconfig("scheduler")
        self.run_part(name, *on_host(host, [
            BINARIES / "kube-scheduler", f"--config={path}",
            f"--authentication-kubeconfig={account}", f"--authorization-kubeconfig={account}",
            "--bind-address=127.0.0.1", f"--secure-port={port}", *self._serving_pair(),
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
        ]))  # fmt: skip
        self._wait_healthy(name, port, "/healthz")
        return self.parts[name]

    def run_part(self, name, *argv):
        """Starts a further process that lives and dies with this cluster."""
        log = self.directory / f"{name}.log"
        self.parts[name] = Process(name, argv, log, detached=self._keep).start()
        return self.parts[name]

    def adopt(self, process, name=None):
        """Lets a process started elsewhere (the daemon) end with this cluster, and be missed by it."""
        self.parts[name or process.name] = process

    def stop(self, part):
        return self.parts[part].stop()

    def kill(self, part):
        self.parts[part].kill()

    def close(self):
        """Ends every part, the last started first, and removes the scratch directory.

        With `keep` it leaves everything as it is.
        """
        atexit.unregister(self.close)
        if self._keep:
            return
        for part in reversed(self.parts.values()):
            part.kill()
        self.parts.clear()
        if self._scratch and not os.environ.get("SLACKLINE_KEEP_LOGS"):
            shutil.rmtree(self.directory, ignore_errors=True)

    def abandon(self):
        """Closes in spite of `keep`."""
        self._keep = False
        self.close()

    # ---- questions and changes -----------------------------------------------------------------

    def request(self, method, path, body=None, token=None, user=None):
        """One API call; returns (status, decoded JSON). As admin or `user`, or with a bearer token.

        A PATCH is a merge patch.
        """
        link = self.connect(admin=token is None)
        form = "merge-patch+json" if method == "PATCH" else "json"
        headers = {"Content-Type": f"application/{form}"}
        if user:
            headers["Impersonate-User"] = user
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            link.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = link.getresponse()
            text = answer.read()
        finally:
            link.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode(errors="replace")

    def connect(self, admin=True, timeout=30):
        """A connection to the API server, with or without the admin's certificate; without a timeout, of None."""
        context = self._tls(admin)
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=timeout and patient(timeout), context=context
        )

    def get(self, kind, namespace, name):
        """One object, or None where there is none."""
        status, reply = self.request("GET", f"{self.collection(kind, namespace)}/{name}")
        if status == 404:
            return None
        assert status == 200, f"get {kind} {namespace}/{name}: {status} {reply}"
        return reply

    def list(self, kind, namespace=None, selector=""):
        """The objects of a namespace, or of all of them."""
        query = f"?labelSelector={selector}" if selector else ""
        status, reply = self.request("GET", self.collection(kind, namespace) + query)
        assert status == 200, f"list {kind}: {status} {reply}"
        return reply["items"]

    def delete_all(self, kind, namespace="default"):
        """Deletes every object of a kind at once, without grace, and waits until they are gone."""
        path = self.collection(kind, namespace)
        options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        status, reply = self.request("DELETE", path, options)
        assert status == 200, f"delete all {kind}: {status} {reply}"
        self.wait(lambda: not self.list(kind, namespace), 30, f"every {kind} of {namespace} to go")

    def kubectl(self, *arguments, input=None):
        """Runs kubectl as admin and returns what it printed; raises AssertionError on failure."""
        done = self._run_kubectl(arguments, input)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}:\n{done.stderr}")
        return done.stdout

    def try_kubectl(self, *arguments, input=None):
        """The same where failure is an answer too: (exit status, everything it printed)."""
        done = self._run_kubectl(arguments, input)
        return done.returncode, done.stdout + done.stderr

    def try_create(self, what, *flags):
        """kubectl create of one object: (exit status, everything it printed)."""
        return self.try_kubectl("create", *flags, "-f", "-", input=json.dumps(what))

    def apply(self, what, *flags):
        """Applies YAML text, or a list of objects, strictly validated."""
        if not isinstance(what, str):
            what = json.dumps({"apiVersion": "v1", "kind": "List", "items": what})
        return self.kubectl("apply", "--validate=strict", *flags, "-f", "-", input=what)

    def add_namespace(self, name, labels=None):
        """Makes a namespace and returns its name once pods can be created there."""
        metadata = {"name": name, "labels": labels or {}}
        self.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
        self.wait(lambda: self.get("serviceaccount", name, "default"), 20, f"namespace {name}")
        return name

    def look_after(self, namespace="default"):
        """From now on Slackline looks after what people create there."""
        label = "slackline.dev/managed=true"
        self.kubectl("label", "namespace", namespace, label, "--overwrite")

    def pods_of(self, job, namespace="default"):
        return self.list("pod", namespace, f"batch.kubernetes.io/job-name={job}")

    def wait_bound(self, job, count=1, timeout=30, namespace="default"):
        """Waits until a Job has `count` pods, all of them on nodes, and returns them."""

        def bound():
            pods = self.pods_of(job, namespace)
            return pods if len(pods) == count and all(map(node_of, pods)) else None

        return self.wait(bound, timeout, f"{count} pods of {job} to be bound")

    def audit(self):
        """The API server's own record (tests/controlplane/audit-policy.yaml), oldest first."""
        text = self._audit_log.read_text() if self._audit_log.exists() else ""
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def binders(self):
        """Who bound each pod: {pod name: user name}, as the API server recorded it."""
        return {
            event["objectRef"]["name"]: event["user"]["username"]
            for event in self.audit()
            if event.get("objectRef", {}).get("subresource") == "binding"
            and event.get("responseStatus", {}).get("code") == 201
        }

    def wait(self, condition, timeout, what):
        """Polls `condition`; fails at once when a part of the cluster has died meanwhile.

        What the parts said last is part of the failure.
        """

        def checked():
            result = condition()
            if not result:
                for part in self.parts.values():
                    if part.exit_status() not in (None, -9, 0):
                        part.must_live()
            return result

        try:
            return wait(checked, timeout, what)
        except AssertionError as failure:
            said = [f"-- {name}:\n{part.tail(4)}" for name, part in self.parts.items()]
            raise AssertionError("\n".join([str(failure), *said])) from None

    def wait_older(self, seconds, namespace="default"):
        """Until every pod that is bound has been running for longer than so many seconds."""

        def older():
            starts = [pod["status"].get("startTime") for pod in bound_and_live(self.list("pod", namespace))]
            if not starts or not all(starts):
                return False
            newest = max(map(datetime.datetime.fromisoformat, starts))
            return time.time() > newest.timestamp() + 1 + seconds  # a start is a whole second

        self.wait(older, seconds + 30, f"all pods to run for {seconds} s")

    def add_gpu_nodes(self, count, gpus, gpu_type_label=None, resource=GPU, prefix="node"):
        """Adds ready nodes PREFIX-0.. and returns their names."""
        names = [f"{prefix}-{index}" for index in range(count)]
        self.apply([gpu_node(name, gpus, gpu_type_label, resource) for name in names])

        def ready():
            nodes = [self.get("node", None, name) for name in names]
            return all(
                not node["spec"].get("taints")
                and any(
                    each["type"] == "Ready" and each["status"] == "True"
                    for each in node["status"].get("conditions", [])
                )
                for node in nodes
            )

        self.wait(ready, 30, f"{count} nodes to be ready")
        return names

    def service_account_token(self, namespace, name, duration="24h"):
        return self.kubectl("create", "token", name, f"--namespace={namespace}", f"--duration={duration}").strip()

    def service_account_kubeconfig(self, namespace, name):
        """A kubeconfig like a pod's own credentials: a token in a file, the CA in a file."""
        token = self.directory / f"{namespace}.{name}.token"
        token.write_text(self.service_account_token(namespace, name))
        token.chmod(0o600)
        path = self.directory / f"{namespace}.{name}.kubeconfig"
        return self.pki.kubeconfig(path, self.url, [f"tokenFile: {token}"])

    def empty_secret(self, namespace, name):
        """As it was installed: Slackline fills it anew."""
        self.kubectl("-n", namespace, "patch", "secret", name, "-p", '{"data": null}')

    def install_rbac(self):
        """Applies deploy/rbac and what holds the daemon to its own writes; returns the kubeconfig of its ServiceAccount."""
        self.kubectl("apply", "--validate=strict", "-k", ROOT / "deploy/rbac")
        self.kubectl("apply", "--validate=strict", "-f", ROOT / "deploy/policy/own-writes.yaml")
        return self.service_account_kubeconfig("slackline-system", "slackline")

    def pki_kubeconfig(self, client):
        """The kubeconfig of `admin`, `scheduler` or `kcm`."""
        path = self.directory / f"{client}.kubeconfig"
        if not path.exists():
            self.pki.client_kubeconfig(path, self.url, client)
        return path

    # ---- start ---------------------------------------------------------------------------------

    def _bring_up(self):
        self._say("certificates")
        self.pki = Pki(self.directory / "pki")
        self.port, etcd, peers, manager, kwok = free_ports(5)
        self.url = f"https://127.0.0.1:{self.port}"
        self._say("etcd")
        self._start_etcd(etcd, peers)
        self._say("kube-apiserver")
        self._start_apiserver(etcd)
        self._say("kube-controller-manager" + (", kwok" if self._kubelets else ""))
        self._start_controller_manager(manager)
        if self._kubelets:
            self._start_kwok(kwok)
            self._wait_healthy("kwok", kwok, "/healthz", tls=False)
        self._wait_healthy("kube-controller-manager", manager, "/healthz")
        self.wait(
            lambda: self.get("serviceaccount", "default", "default"),
            30,
            "the default ServiceAccount",
        )

    def _start_etcd(self, port, peers):
        client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peers}"
        self.run_part(
            "etcd", BINARIES / "etcd", "--name=n0", f"--data-dir={self.directory}/etcd",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=n0={peer}", "--auto-compaction-retention=1",
            "--quota-backend-bytes=2147483648", "--unsafe-no-fsync", "--log-level=warn",
        )  # fmt: skip
        self._wait_healthy("etcd", port, "/health", tls=False)

    def _start_apiserver(self, etcd):
        pki = self.pki
        self.run_part(
            "kube-apiserver", BINARIES / "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{etcd}", "--etcd-prefix=/registry",
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none", f"--secure-port={self.port}",
            f"--cert-dir={self.directory}", *self._serving_pair(),
            f"--client-ca-file={pki.crt('ca')}", "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki.directory}/sa.pub",
            f"--service-account-signing-key-file={pki.key('sa')}",
            "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
            f"--audit-policy-file={AUDIT_POLICY}", f"--audit-log-path={self._audit_log}",
            "--enable-admission-plugins=ExtendedResourceToleration",  # as GKE, EKS and AKS have it
            *([] if self._kubelets else ["--disable-admission-plugins=TaintNodesByCondition"]),
            *(self._webhook_client() if self._shows_certificate else []),
            *(self._front_proxy() if self._aggregates else []),
            *([f"--emulated-version={self._emulates}"] if self._emulates else []),
        )  # fmt: skip
        self._wait_healthy("kube-apiserver", self.port, "/readyz", timeout=60)

    def _front_proxy(self):
        self.pki.add_front_proxy()
        return [
            f"--requestheader-client-ca-file={self.pki.crt('front-proxy-ca')}",
            "--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={self.pki.crt('front-proxy')}",
            f"--proxy-client-key-file={self.pki.key('front-proxy')}",
        ]  # fmt: skip

    def _webhook_client(self):
        """As docs/OPERATIONS.md says it ("Its callers"), for every webhook."""
        client = self.directory / "webhook-client.kubeconfig"
        self.pki.client_kubeconfig(client, self.url, "webhook-caller")
        client.write_text(client.read_text().replace("- name: user\n", '- name: "*"\n'))
        config = {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "WebhookAdmissionConfiguration",
            "kubeConfigFile": str(client),
        }
        names = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
        plugins = [{"name": name, "configuration": config} for name in names]
        path = self.directory / "admission.json"
        head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}
        path.write_text(json.dumps({**head, "plugins": plugins}))
        return [f"--admission-control-config-file={path}"]

    def _start_controller_manager(self, port):
        self.run_part(
            "kube-controller-manager", BINARIES / "kube-controller-manager",
            f"--kubeconfig={self.pki_kubeconfig('kcm')}", "--bind-address=127.0.0.1",
            f"--secure-port={port}", *self._serving_pair(), "--leader-elect=false",
            "--use-service-account-credentials=true", f"--root-ca-file={self.pki.crt('ca')}",
            f"--service-account-private-key-file={self.pki.key('sa')}",
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
            f"--controllers={_CONTROLLERS}{_NODE_CONTROLLERS if self._kubelets else ''}",
            "--kube-api-qps=1000", "--kube-api-burst=1000", "--concurrent-job-syncs=20",
        )  # fmt: skip

    def _start_kwok(self, port):
        self.run_part(
            "kwok", BINARIES / "kwok", f"--kubeconfig={self.pki_kubeconfig('admin')}",
            f"--config={KWOK_STAGES}", "--manage-nodes-with-label-selector=type=kwok",
            "--node-ip=127.0.0.1", f"--node-port={port}", f"--server-address=127.0.0.1:{port}",
            "--node-lease-duration-seconds=40", "--cidr=10.244.0.0/16",
        )  # fmt: skip

    def _run_kubectl(self, arguments, input):
        return subprocess.run(
            [BINARIES / "kubectl", f"--kubeconfig={self.pki_kubeconfig('admin')}", *arguments],
            input=input, capture_output=True, text=True, check=False,
            env={**os.environ, "HOME": str(self.directory)},
        )  # fmt: skip

    def _serving_pair(self):
        return (
            f"--tls-cert-file={self.pki.crt('apiserver')}",
            f"--tls-private-key-file={self.pki.key('apiserver')}",
        )

    def _tls(self, admin):
        context = ssl.create_default_context(cafile=str(self.pki.crt("ca")))
        if admin:
            context.load_cert_chain(str(self.pki.crt("admin")), str(self.pki.key("admin")))
        return context

    def _wait_healthy(self, name, port, path, tls=True, timeout=30):
        def healthy():
            self.parts[name].must_live()
            if tls:
                link = http.client.HTTPSConnection("127.0.0.1", port, timeout=patient(5), context=self._tls(admin=True))
            else:
                link = http.client.HTTPConnection("127.0.0.1", port, timeout=patient(5))
            try:
                link.request("GET", path)
                return link.getresponse().status == 200
            finally:
                link.close()

        wait(healthy, timeout, f"{name} to answer {path}")

    @staticmethod
    def collection(kind, namespace):
        """The path of the objects of a kind, of a namespace or (None) of all."""
        return _COLLECTIONS[kind].format(ns=f"namespaces/{namespace}/" if namespace else "")
