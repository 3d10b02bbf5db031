"""A TLS proxy in front of the API server of a test cluster, for what the network and fate can do to
the one client behind it: the client dies the moment one of its writes has happened, or hears
nothing for a while.

    with ApiProxy(cluster) as proxy:
        daemon = Daemon(proxy.kubeconfig(account), ...)
        proxy.after_write(3, daemon.kill)   # the third PATCH has happened, its answer never arrives
        proxy.cut(); ...; proxy.heal()      # a partition: connections stay, nothing gets through

Writes (PATCH of a Job or a pod) pass one at a time, so that "after the n-th" is exact. Every
connection carries one request. Threads are daemons; close() ends what they wait for.
"""

import contextlib
import re
import select
import socket
import ssl
import threading

from support.process import free_ports

_HEAD_END = b"\r\n\r\n"


class ApiProxy:
    def __init__(self, cluster):
        self.cluster = cluster
        (self.port,) = free_ports(1)
        self.url = f"https://127.0.0.1:{self.port}"
        self.writes = []  # "PATCH /path" of every write that the API server has answered
        self._write_lock = threading.Lock()
        self._kill_after = None
        self._kill = None
        self._life = 0  # how often it has killed: what an earlier life asked for is dropped
        self._open = threading.Event()
        self._open.set()
        self._closed = False
        self._server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        pki = cluster.pki
        self._server_side.load_cert_chain(pki.crt("apiserver"), pki.key("apiserver"))
        self._client_side = ssl.create_default_context(cafile=str(pki.crt("ca")))
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def kubeconfig(self, account):
        """The same credentials by way of this proxy: the path of a new kubeconfig."""
        path = account.with_name(f"{account.name}.by-proxy-{self.port}")
        text, found = re.subn(r"server: \S+", f"server: {self.url}", account.read_text())
        assert found == 1, f"{account} names {found} servers"
        path.write_text(text)
        path.chmod(0o600)
        return path

    def after_write(self, count, kill):
        """Calls `kill` once `count` more writes have happened; lets no later one happen."""
        with self._write_lock:
            self._kill_after = len(self.writes) + count
            self._kill = kill

    def let_live(self):
        with self._write_lock:
            self._kill_after = None

    def cut(self):
        self._open.clear()

    def heal(self):
        self._open.set()

    def close(self):
        self._closed = True
        self._open.set()
        self._listener.close()

    # ---- one connection ------------------------------------------------------------------------

    def _accept(self):
        while not self._closed:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer, self._life), daemon=True).start()

    def _serve(self, peer, life):
        with contextlib.suppress(OSError), contextlib.closing(peer):
            self._open.wait()
            with self._server_side.wrap_socket(peer, server_side=True) as client:
                request = self._read_request(client)
                if request is None:
                    return
                line, _, rest = request.partition(b"\r\n")
                # The API server closes after its answer, and says so to the client.
                request = line + b"\r\nConnection: close\r\n" + rest
                self._open.wait()
                if line.startswith(b"PATCH ") and b"/events/" not in line:
                    self._pass_write(client, line.decode().rsplit(" ", 1)[0], request, life)
                else:
                    self._pass(client, request)

    def _pass(self, client, request):
        with self._upstream() as server:
            server.sendall(request)
            while piece := self._receive(server, client):
                self._open.wait()
                client.sendall(piece)

    def _pass_write(self, client, name, request, life):
        with self._write_lock:
            if life != self._life:  # asked by one who is dead by now
                return
            answer = b""
            with self._upstream() as server:
                server.sendall(request)
                while piece := server.recv(65536):
                    answer += piece
            if b" 200 " in answer[:20]:
                self.writes.append(name)
            if len(self.writes) == self._kill_after:
                self._kill()
                self._life += 1
                return
        self._open.wait()
        client.sendall(answer)

    def _upstream(self):
        link = socket.create_connection(("127.0.0.1", self.cluster.port))
        return self._client_side.wrap_socket(link, server_hostname="127.0.0.1")

    @staticmethod
    def _receive(server, client):
        """The server's next bytes; none once either side is gone."""
        while True:
            if server.pending():
                return server.recv(65536)
            ready, _, _ = select.select([server, client], [], [], 60)
            if server in ready:
                return server.recv(65536)
            if client in ready:  # it has asked all it wanted: it can only have left
                return b""

    @staticmethod
    def _read_request(client):
        data = b""
        while _HEAD_END not in data:
            piece = client.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(_HEAD_END)
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        while length and len(body) < int(length[1]):
            piece = client.recv(65536)
            if not piece:
                return None
            body += piece
        head = re.sub(rb"(?im)^connection:.*\r\n", b"", head + b"\r\n")
        return head + b"\r\n" + body
