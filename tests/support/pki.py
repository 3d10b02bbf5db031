"""Certificates of one test cluster, made with openssl: ECDSA P-256, valid for a day."""

import pathlib
import subprocess

_CLIENTS = {
    "admin": "/O=system:masters/CN=admin",
    "scheduler": "/CN=system:kube-scheduler",
    "kcm": "/CN=system:kube-controller-manager",
    "webhook-caller": "/CN=kube-apiserver-webhook-caller",
}
_SERVERS = {
    "apiserver": "IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default.svc",
    "extender": "IP:127.0.0.1,DNS:localhost",
}
_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "1"]


class Pki:
    """Files `NAME.crt` and `NAME.key` in one directory; `ca`, the servers, the clients, `sa`."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._authority("ca", "/CN=slackline-test-ca")
        for name, alternatives in _SERVERS.items():
            self._issue(name, f"/CN={name}", "serverAuth", alternatives)
        for name, subject in _CLIENTS.items():
            self._issue(name, subject, "clientAuth")
        self._openssl("genrsa", "-out", self.key("sa"), "2048")
        self._openssl("rsa", "-in", self.key("sa"), "-pubout", "-out", self.directory / "sa.pub")

    def add_front_proxy(self):
        """`front-proxy`, by which the API server's aggregation layer is known, of an authority of its own."""
        self._authority("front-proxy-ca", "/CN=front-proxy-ca")
        self._issue("front-proxy", "/CN=front-proxy-client", "clientAuth", authority="front-proxy-ca")

    def crt(self, name):
        return self.directory / f"{name}.crt"

    def key(self, name):
        return self.directory / f"{name}.key"

    def mutual_tls(self, names=("system:kube-scheduler",)):
        """The setting `tls` of a listener that asks its clients for certificates: YAML. Without
        names any client of the authority is served, which programs of any age understand."""
        allowed = f", clientNames: [{', '.join(map(repr, names))}]" if names else ""
        return (
            f"{{certFile: {self.crt('extender')}, keyFile: {self.key('extender')},"
            f" clientCAFile: {self.crt('ca')}{allowed}}}"
        )

    def kubeconfig(self, path, server, user_lines):
        """Writes a kubeconfig with one context whose user has the given YAML lines."""
        user = "\n".join(f"      {line}" for line in user_lines)
        path = pathlib.Path(path)
        path.write_text(
            f"""\
apiVersion: v1
kind: Config
clusters:
  - name: test
    cluster:
      server: {server}
      certificate-authority: {self.crt("ca")}
users:
  - name: user
    user:
{user}
contexts:
  - name: test
    context:
      cluster: test
      user: user
current-context: test
"""
        )
        path.chmod(0o600)
        return path

    def client_kubeconfig(self, path, server, client):
        return self.kubeconfig(
            path,
            server,
            [f"client-certificate: {self.crt(client)}", f"client-key: {self.key(client)}"],
        )

    def _authority(self, name, subject):
        self._openssl(
            "req", "-x509", *_NEW_KEY, "-subj", subject, "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            "-keyout", self.key(name), "-out", self.crt(name),
        )  # fmt: skip

    def _issue(self, name, subject, usage, alternatives=None, authority="ca"):
        extensions = [f"extendedKeyUsage={usage}", "basicConstraints=critical,CA:FALSE"]
        if alternatives:
            extensions.append(f"subjectAltName={alternatives}")
        arguments = [each for line in extensions for each in ("-addext", line)]
        self._openssl(
            "req", "-x509", *_NEW_KEY, "-subj", subject, *arguments,
            "-CA", self.crt(authority), "-CAkey", self.key(authority),
            "-keyout", self.key(name), "-out", self.crt(name),
        )  # fmt: skip

    @staticmethod
    def _openssl(*arguments):
        done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"openssl {arguments[0]} failed:\n{done.stderr}")
