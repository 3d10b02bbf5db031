"""The image of `make image`: what it holds, and Slackline running in its root file system as its user."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tarfile
import tempfile
import unittest

from support.controlplane import ROOT
from support.daemon import slackline_binary
from support.process import Process, free_ports, wait

SCRIPT = ROOT / "scripts/image"
DUMP = ROOT / "manifests/clusters/demo.yaml"
STORE = "var/lib/slackline"
SHELLS = {"sh", "bash", "dash", "ash", "busybox", "env", "apt", "apt-get", "dpkg", "perl", "python3"}


def image(*flags):
    """Runs scripts/image on the program under test: (exit status, everything it printed)."""
    done = subprocess.run([SCRIPT, "--binary", slackline_binary(), *flags], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def build(out, *flags):
    """The archive, and what the script said of it.

    Where Debian has replaced a pinned package, it is made of what Debian offers today, and says so.
    """
    status, said = image("--out", out, *flags)
    if status != 0 and "no longer offers" in said:
        print(f"test_image: made of today's packages, because a pin is outdated: {said}")
        pins = out.with_suffix(".packages")
        status, said = image("--pin", "--packages", pins)
        if status == 0:
            status, said = image("--out", out, "--packages", pins, *flags)
    assert status == 0, said
    return said


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="slackline-image-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.said = build(cls.folder / "slackline.tar")
        with tarfile.open(cls.folder / "slackline.tar") as archive:
            cls.files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        (cls.entry,) = json.loads(cls.files["index.json"])["manifests"]
        cls.manifest = json.loads(cls.blob(cls.entry))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))
        cls.root = cls.folder / "root"
        cls.members = {}
        for each in cls.manifest["layers"]:
            with tarfile.open(fileobj=io.BytesIO(gzip.decompress(cls.blob(each)))) as layer:
                cls.members |= {member.name: member for member in layer}
                layer.extractall(cls.root, numeric_owner=True)
        cls.folder.chmod(0o755)  # its user passes through

    @classmethod
    def blob(cls, descriptor):
        return cls.files["blobs/" + descriptor["digest"].replace(":", "/")]

    def test_every_digest_is_that_of_its_bytes(self):
        self.assertEqual(json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        for descriptor in (self.entry, self.manifest["config"], *self.manifest["layers"]):
            data = self.blob(descriptor)
            self.assertEqual(descriptor["size"], len(data))
            self.assertEqual(descriptor["digest"], "sha256:" + hashlib.sha256(data).hexdigest())
        whole = [hashlib.sha256(gzip.decompress(self.blob(each))).hexdigest() for each in self.manifest["layers"]]
        self.assertEqual(self.config["rootfs"]["diff_ids"], [f"sha256:{each}" for each in whole])
        self.assertIn(f"digest: {self.entry['digest']}\n", self.said)
        (loaded,) = json.loads(self.files["manifest.json"])
        for path in (loaded["Config"], *loaded["Layers"]):
            self.assertIn(path, self.files)

    def test_containerd_finds_it_by_the_name_that_manifests_ask_for(self):
        self.assertEqual(set(self.entry["annotations"].values()), {"docker.io/library/slackline:0.1.0"})
        status, said = image("--name", "slackline", "--out", self.folder / "none.tar")
        self.assertNotEqual(status, 0)
        self.assertIn("registry.example/slackline:0.1.0", said)

    def test_it_has_no_shell_and_its_user_may_write_only_its_store(self):
        self.assertEqual(self.config["config"]["User"], "65532:65532", "a number: names are not known to a kubelet")
        programs = {
            path for path, member in self.members.items() if member.isfile() and member.mode & 0o111
        }  # fmt: skip
        others = {path for path in programs if ".so" not in path}
        self.assertEqual(others, {"usr/local/bin/slackline"})
        files = {path for path, member in self.members.items() if not member.isdir()}
        self.assertEqual({path for path in files if pathlib.Path(path).name in SHELLS}, set())
        writable = set()
        for path, member in self.members.items():
            if member.issym():
                continue
            self.assertTrue(member.mode & 0o040, f"{path}: a cluster may choose the user, with group 0")
            if member.uid != 0 or member.mode & 0o022:
                writable.add(path)
        self.assertEqual(writable, {STORE, "tmp"})

    def test_every_package_is_named_and_has_its_licence(self):
        names = [path.rpartition("/")[2] for path in self.members if path.startswith("var/lib/dpkg/status.d/")]
        self.assertIn("libssl3", names)
        for name in names:
            papers = self.root / "usr/share/doc" / name / "copyright"
            self.assertTrue(papers.is_file(), name)
            self.assertIn(f"Package: {name}\n", (self.root / "var/lib/dpkg/status.d" / name).read_text())

    def test_it_knows_the_authorities_of_certificates(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.root / "etc/ssl/certs/ca-certificates.crt")
        self.assertGreater(len(context.get_ca_certs()), 100)

    def test_the_same_program_gives_the_same_bytes(self):
        packages = self.folder / "slackline.packages"  # where the pins are outdated
        again = self.folder / "again.tar"
        build(again, *(["--packages", packages] if packages.exists() else []))
        self.assertEqual(again.read_bytes(), (self.folder / "slackline.tar").read_bytes())

    def test_what_is_pinned_is_what_the_program_needs(self):
        def names(path):
            return [line.split()[0] for line in path.read_text().splitlines() if not line.startswith("#")]

        status, said = image("--pin", "--packages", self.folder / "today.packages")
        self.assertEqual(status, 0, said)
        (pinned,) = (ROOT / "deploy/image").glob(f"packages.{self.config['architecture']}")
        self.assertEqual(names(self.folder / "today.packages"), names(pinned))

    def test_a_package_of_another_content_is_refused(self):
        pins = self.folder / "wrong.packages"
        offered = subprocess.run(
            ["apt-cache", "show", "--no-all-versions", "libffi8"], capture_output=True, text=True, check=True
        ).stdout
        version = offered.partition("Version: ")[2].split()[0]
        pins.write_text(f"libffi8 {version} {'0' * 64}\n")
        status, said = image("--packages", pins, "--out", self.folder / "none.tar")
        self.assertNotEqual(status, 0)
        self.assertIn(f"libffi8 {version} has another SHA-256", said)
        self.assertFalse((self.folder / "none.tar").exists())

    def inside(self, user, *words):
        """The command line that runs a program of the image as a user, in its root file system."""
        environment = ["/usr/bin/env", "-i", *self.config["config"]["Env"]]
        return [*environment, shutil.which("chroot"), f"--userspec={user}", "--groups=", self.root, *words]

    @unittest.skipUnless(os.geteuid() == 0, "the image did not run: only root may change the root file system")
    def test_it_serves_and_answers_in_its_own_root_file_system(self):
        (self.root / "tmp").chmod(0o755)  # as with a root file system that is read-only
        (self.root / "cluster.yaml").write_bytes(DUMP.read_bytes())
        for user in (self.config["config"]["User"], "1000690000:0"):  # its own, and one that OpenShift chose
            with self.subTest(user):
                self.serve_and_ask(user)

    def serve_and_ask(self, user):
        extender, api, metrics = (f"127.0.0.1:{port}" for port in free_ports(3))
        (program,), arguments = self.config["config"]["Entrypoint"], self.config["config"]["Cmd"]
        daemon = Process(
            "slackline",
            self.inside(
                user, program, *arguments, "--cluster", "file:/cluster.yaml", "--listen-extender", extender,
                "--listen-api", api, "--listen-metrics", metrics, "--grace", "0",
            ),
            self.folder / "slackline.log",
        )  # fmt: skip
        daemon.start()
        self.addCleanup(daemon.kill)

        def queue():
            return subprocess.run(
                self.inside(user, program, "queue", "--server", f"http://{api}"),
                capture_output=True, text=True, check=False,
            )  # fmt: skip

        wait(lambda: queue().returncode in (0, 1), 30, "an answer from within the image")
        self.assertIn("team-vision/resnet-nightly", queue().stdout)
        daemon.must_live()
        self.assertEqual(daemon.stop(), 0, daemon.tail(10))
        written = list((self.root / STORE).iterdir())
        self.assertIn("slackline.db", [path.name for path in written])
        for path in written:
            path.unlink()


class ReleaseTest(unittest.TestCase):
    def test_what_is_published_is_what_was_built(self):
        with tempfile.TemporaryDirectory(prefix="slackline-release-") as folder:
            status, said = self.release()
            if status != 0 and "no longer offers" in said:
                pins = pathlib.Path(folder) / "packages"
                self.assertEqual(image("--pin", "--packages", pins)[0], 0)
                status, said = self.release("--packages", pins)
            self.assertEqual(status, 0, said)
            version = subprocess.run([slackline_binary(), "version"], capture_output=True, text=True).stdout.split()[1]
            self.assertIn(f"release {version} is in", said)
            out = ROOT / f"build/release-{version}"
            sums = dict(reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines())
            found = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in out.iterdir()}
            del found["SHA256SUMS"]
            self.assertEqual(found, sums)
            self.assertEqual(len(sums), 3)
            (program,) = out.glob("*-linux-*.tar.gz")
            with tarfile.open(program) as archive:
                archive.extractall(folder, filter="data")
            unpacked = pathlib.Path(folder) / f"slackline-{version}"
            self.assertEqual(sorted(os.listdir(unpacked)), ["CHANGELOG.md", "LICENSE", "README.md", "slackline"])
            told = subprocess.run([unpacked / "slackline", "version"], capture_output=True, text=True)
            self.assertEqual(told.stdout, f"slackline {version}\n")
            with tarfile.open(next(out.glob("slackline-chart-*.tgz"))) as chart:
                self.assertIn("slackline/values.schema.json", chart.getnames())
            (archive,) = out.glob("*-image-*.tar")
            self.assertTrue(archive.stat().st_size > 0)

    def test_a_tag_of_ones_own_is_refused(self):
        status, said = self.release("--name", "registry.example:5000/slackline:latest")
        self.assertEqual(status, 1)
        self.assertIn("has a tag; the tag is the version", said)

    def release(self, *flags):
        done = subprocess.run([ROOT / "scripts/release", *flags], capture_output=True, text=True, check=False,
                              env={**os.environ, "SLACKLINE_BIN": str(slackline_binary())})  # fmt: skip
        return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    unittest.main()
