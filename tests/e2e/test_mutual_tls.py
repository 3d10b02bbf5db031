"""The extender's port as the form `beside` of the chart opens it: kube-scheduler calls it, and nobody else can."""

import base64
import contextlib
import http.client
import json
import pathlib
import re
import shlex
import socket
import ssl
import tempfile
import threading
import time
import unittest

from support.controlplane import DAEMON_USER, ROOT, ControlPlane
from support.installation import SYSTEM, Installation, apply_chart
from support.objects import gpu_pod, node_of

CALLED = "slackline.slackline-system.svc"
REFUSED = (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)
FILTER = json.dumps(
    {"Pod": {"metadata": {"name": "asked", "namespace": "default", "uid": "u"},
             "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}},
     "Nodes": None, "NodeNames": ["k80-0"]})  # fmt: skip


class Caller:
    """A client that trusts what the file says when it is made, and reads its certificate for every call."""

    def __init__(self, port, trusted, certificate=None):
        self.port, self.certificate = port, certificate
        self.trusted = pathlib.Path(trusted).read_text()

    def call(self):
        """One filter call on a connection of its own: (nodes, the server's certificate)."""
        context = ssl.create_default_context(cadata=self.trusted)
        if self.certificate:
            with tempfile.NamedTemporaryFile() as once:  # load_cert_chain reads twice, and a rotation may come between
                once.write(pathlib.Path(self.certificate).read_bytes())
                once.flush()
                context.load_cert_chain(once.name)
        link = http.client.HTTPConnection(CALLED, timeout=5)
        link.sock = context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), timeout=5), server_hostname=CALLED
        )
        with contextlib.closing(link):
            shown = link.sock.getpeercert(binary_form=True)
            link.request("POST", "/v1/extender/filter", FILTER, {"Content-Type": "application/json"})
            return json.loads(link.getresponse().read())["NodeNames"], shown


class Load:
    """Calls one after another until it is ended; keeps what failed and whom it met."""

    def __init__(self, caller):
        self.caller, self.calls, self.failed, self.servers = caller, 0, [], set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._ended.wait(0.05):
            try:
                nodes, server = self.caller.call()
                assert nodes == ["k80-0"], nodes
                self.servers.add(server)
                self.calls += 1
            except Exception as problem:  # pylint: disable=broad-except
                self.failed.append(f"{time.strftime('%X')} {problem!r}")

    def end(self):
        self._ended.set()
        self._thread.join()
        return self


class MutualTlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster = ControlPlane()
        cls.addClassCleanup(cluster.close)
        cluster.add_gpu_nodes(2, 8, "K80", prefix="k80")
        apply_chart(cluster, "beside")
        cls.installed = Installation(cluster)
        cls.installed.run()

    def caller(self, certificate):
        return Caller(self.installed.daemon.extender_port, self.installed.volumes.file("ca.crt"), certificate)

    def bind(self, *names):
        self.cluster.apply([gpu_pod(name) for name in names])
        self.cluster.wait(
            lambda: all(node_of(self.cluster.get("pod", "default", name)) for name in names), 30, "them to be bound"
        )
        binders = self.cluster.binders()
        return {binders[name] for name in names}

    def authorities(self):
        return (self.installed.trust() or "").count("BEGIN CERTIFICATE")

    def test_only_kube_scheduler_is_served(self):
        self.assertEqual(self.caller(self.installed.volumes.file("client.pem")).call()[0], ["k80-0"])
        ours = self.cluster.get("secret", SYSTEM, "slackline-extender-tls")["data"]
        stolen = self.cluster.directory / "server.pem"
        stolen.write_bytes(b"".join(base64.b64decode(ours[name]) for name in ("tls.crt", "tls.key")))
        foreign = self.cluster.directory / "foreign.pem"
        pki = self.cluster.pki
        foreign.write_text(pki.crt("scheduler").read_text() + pki.key("scheduler").read_text())
        for who, certificate in {
            "no certificate": None, "of another CA": foreign, "the server's own": stolen,
        }.items():  # fmt: skip
            with self.subTest(who), self.assertRaises(REFUSED):
                self.caller(certificate).call()

    def test_kube_scheduler_starts_and_schedules_while_we_are_dead(self):
        self.assertEqual(self.bind("before"), {DAEMON_USER})
        self.installed.daemon.kill()
        self.installed.start_scheduler()
        self.assertNotEqual(self.bind("meanwhile"), {DAEMON_USER})
        self.installed.daemon.restart()
        self.cluster.wait(lambda: self.bind(f"after-{time.time_ns()}") == {DAEMON_USER}, 30, "it to be asked again")

    def test_certificates_and_authority_rotate_without_a_failed_call(self):
        installed, daemon = self.installed, self.installed.daemon
        daemon.settings = "extender: {certificate: {life: 15s}, authorityLife: 60s}\n"
        told = (ROOT / "docs/OPERATIONS.md").read_text()
        (patch,) = re.findall(r"^kubectl (.* patch secret slackline-extender-tls .*)$", told, re.MULTILINE)
        self.cluster.kubectl(*shlex.split(patch))
        before = installed.trust()
        installed.restart()
        self.cluster.wait(lambda: installed.trust() != before, 10, "the new authority")
        installed.start_scheduler()
        client = installed.volumes.file("client.pem")
        early = Load(self.caller(client))
        self.assertEqual(self.bind("r-0"), {DAEMON_USER})
        self.assertEqual(daemon.total("slackline_extender_restart_by_timestamp_seconds"), 0)
        self.cluster.wait(lambda: self.authorities() == 2, 60, "the next authority")
        time.sleep(8)  # whoever trusts only the old one meets certificates of the new one
        self.assertEqual(self.bind("r-1"), {DAEMON_USER})
        restart_by_s = daemon.total("slackline_extender_restart_by_timestamp_seconds")
        self.assertGreater(restart_by_s, time.time())
        installed.volumes.sync()
        late = Load(self.caller(client))
        early.end()
        installed.start_scheduler()  # in the overlap, as the gauge asks
        self.assertEqual(self.bind("r-2"), {DAEMON_USER})
        self.cluster.wait(lambda: time.time() > restart_by_s + 3, 40, "the old authority to expire")
        self.assertEqual(self.bind("r-3"), {DAEMON_USER})
        late.end()
        for load in (early, late):
            self.assertEqual(load.failed, [])
            self.assertGreater(load.calls, 50)
        self.assertGreaterEqual(len(early.servers | late.servers), 4, "certificates in that time")
        log = self.cluster.parts["gpu-scheduler"].log.read_text()
        self.assertEqual(re.findall(r".*(?:x509|tls:).*", log), [])


if __name__ == "__main__":
    unittest.main()
