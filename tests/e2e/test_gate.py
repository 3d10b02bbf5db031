"""The scripts that judge a change: scripts/verify, .ci/run, scripts/test and scripts/e2e, in a small repository of their own,
whose end-to-end tests pass, fail once, or fail always (what they call besides is a stub); and how long tests wait."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support.controlplane import ROOT
from support.patience import patient, slowness
from support.process import settled, wait

JUDGES = ("scripts/verify", "scripts/test", "scripts/e2e", ".ci/run")
STUBS = (
    "scripts/setup",
    "scripts/build",
    "scripts/build-controlplane",
    "scripts/build-helm",
    "scripts/fetch-crds",
    "scripts/check-house",
    "bin/cmake",
    "bin/ctest",
)
MAKEFILE = "test:\n\tscripts/test\nlint fuzz:\n\ttrue\n"
FINE = """
    def test_fine(self):
        shared = os.environ.get("SLACKLINE_SHARED", HERE.parents[2] / "shared")
        self.assertTrue(os.path.isdir(shared), "every run knows the published data")
"""
FLAKY = """
    def test_sometimes(self):
        tried = HERE / "tried"
        second = tried.exists()
        tried.touch()
        self.assertTrue(second, "not at first")

    def test_fine_beside_it(self):
        pass
"""
BROKEN = """
    def test_never(self):
        self.fail("as always")
"""

# Two tests of a preset, of which one owns threads: SAYS is what the one that fails says, SECOND how the second try ends.
CTEST = """#!/bin/sh
case "$*" in
*"-N -LE threaded"*) echo '  Test  #2: quiet_test' ;;
*--rerun-failed*) exit ${SECOND:-0} ;;
*tsan*) ;;
*)
  printf 'x_test.cpp:7: Failure\n%s\n' "$SAYS"
  printf '50%% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n'
  printf '\t  3 - %s (Failed)\nErrors while running CTest\n' "${FAILS:-busy_test}"
  exit 8
  ;;
esac
"""


class GateTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.checkout = self.folder / "checkout"
        (self.folder / "clones").mkdir()
        (self.folder / "shared").mkdir()
        for name in JUDGES:
            self.write(name, (ROOT / name).read_text(), 0o755)
        for name in STUBS:
            self.write(name, "#!/bin/sh\n", 0o755)
        self.write("scripts/browser-tools", "#!/bin/sh\necho /nowhere\n", 0o755)
        self.write("Makefile", MAKEFILE)
        self.write(".gitignore", "/build/\n/.cache/\ntried\n*.pyc\n")
        self.add_test("test_fine", FINE)

    def write(self, name, text, mode=0o644):
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def add_test(self, name, body):
        head = "import os, pathlib, unittest\nHERE = pathlib.Path(__file__).parent\nclass ATest(unittest.TestCase):"
        self.write(f"tests/e2e/{name}.py", head + body)

    def commit(self):
        who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "All"]):
            subprocess.run(["git", *command], cwd=self.checkout, check=True)

    def run_script(self, name, *arguments, **environment):
        """(exit status, its output)."""
        about = {
            "PATH": f"{self.checkout}/bin:{os.environ['PATH']}",
            "TMPDIR": str(self.folder / "clones"),
            **environment,
        }
        given = {key: value for key, value in os.environ.items() if key not in ("SLACKLINE_SHARED", "FLAKES")}
        done = subprocess.run(
            [self.checkout / name, *arguments], cwd=self.checkout, env=given | about, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    def clones(self):
        return [path for path in (self.folder / "clones").iterdir() if path.name.startswith("slackline-verify")]

    def test_what_passes_is_verified_and_its_clone_removed(self):
        self.commit()
        status, said = self.run_script("scripts/verify")
        self.assertEqual(status, 0, said)
        for line in ("e2e real control plane", "8 passed, 0 failed", "verify: passed: "):
            self.assertIn(line, said)
        self.assertNotIn("FLAKY", said)
        self.assertEqual(self.clones(), [])

    def test_a_flake_is_named_in_the_last_lines_and_is_not_red(self):
        self.add_test("test_flaky", FLAKY)
        self.commit()
        status, said = self.run_script("scripts/verify")
        self.assertEqual(status, 0, said)
        self.assertIn("\nFLAKY: test_flaky test_sometimes\n", said[said.index("what took how long") :])
        self.assertIn("10 passed, 0 failed", said)  # each test once

    def test_a_flake_is_red_where_it_is_asked_for(self):
        self.add_test("test_flaky", FLAKY)
        status, said = self.run_script("scripts/e2e", FLAKES="red")
        self.assertEqual(status, 1, said)
        self.assertIn("FLAKY: test_flaky test_sometimes", said.splitlines()[-2])
        logs = self.checkout / "build/logs/flaky"
        self.assertIn("not at first", (logs / "test_flaky.first.log").read_text())
        self.assertIn("OK", (logs / "test_flaky.again.log").read_text())

    def test_a_file_that_is_named_has_no_second_try(self):
        self.add_test("test_flaky", FLAKY)
        status, said = self.run_script("scripts/e2e", "test_flaky")
        self.assertEqual(status, 1, said)
        self.assertNotIn("FLAKY", said)

    def test_what_fails_twice_is_red_and_its_clone_stays(self):
        self.add_test("test_flaky", FLAKY)
        self.add_test("test_broken", BROKEN)
        self.write("tests/e2e/test_unreadable.py", "import nothing_of_that_name\n")
        self.commit()
        status, said = self.run_script("scripts/verify")
        self.assertEqual(status, 1, said)
        closing = said[said.index("what took how long") :]
        for line in ("FAILED twice: test_broken test_never", "FAILED twice: test_unreadable test_unreadable",
                     "FLAKY: test_flaky test_sometimes", "ci: FAILED: make test", "verify: FAILED"):  # fmt: skip
            self.assertIn(line, closing)
        (clone,) = self.clones()
        logs = sorted(path.name for path in (clone / "build/logs/flaky").iterdir())
        names = ("test_broken", "test_flaky", "test_unreadable")
        self.assertEqual(logs, sorted(f"{name}.{when}.log" for name in names for when in ("first", "again")))

    def test_a_test_that_owns_threads_has_a_second_try_and_what_a_sanitizer_found_has_none(self):
        self.write("bin/ctest", CTEST, 0o755)
        status, said = self.run_script("scripts/test", SAYS="Expected: 1, actual: 2")
        self.assertEqual(status, 0, said)
        self.assertIn("\nFLAKY: busy_test (asan-ubsan)\n", said[said.index("what took how long") :])
        for given in (
            {"SECOND": "8"},
            {"FAILS": "quiet_test"},
            {"SAYS": "WARNING: ThreadSanitizer: data race"},
            {"SAYS": "x.cpp:1:2: runtime error: signed integer overflow"},
        ):
            status, said = self.run_script("scripts/test", **{"SAYS": "Expected: 1", **given})
            self.assertEqual(status, 1, (given, said))
            self.assertIn("== tests asan-ubsan: FAILED", said, given)
            self.assertNotIn("FLAKY", said, given)

    def test_what_is_not_committed_is_not_verified(self):
        self.commit()
        self.write("src/new.cpp", "")
        status, said = self.run_script("scripts/verify")
        self.assertEqual(status, 2)
        self.assertIn("?? src/", said)
        self.assertIn("commit them", said)
        self.assertEqual(self.clones(), [])

    def test_the_control_plane_is_not_built_again(self):
        self.write("scripts/build-controlplane", "#!/bin/sh\ncat .cache/controlplane/stamp && test -x .cache/controlplane/etcd\n", 0o755)  # fmt: skip
        self.commit()
        self.write(".cache/controlplane/stamp", "as of now\n")
        self.write(".cache/controlplane/etcd", "", 0o755)
        status, said = self.run_script("scripts/verify")
        self.assertEqual(status, 0, said)


class PatienceTest(unittest.TestCase):
    def test_limits_follow_speed_and_load_from_one_to_six_times(self):
        for measured, load, factor in (
            ((1, 1), 0, 1), ((0.5, 1), 0.5, 1), ((1, 1), 3, 3), ((1, 4), 2, 4), ((2, 1), 2, 4), ((3, 5), 1, 6),
        ):  # fmt: skip
            self.assertEqual(slowness(measured, load), factor)
        self.assertGreaterEqual(patient(10), 10)
        self.assertLessEqual(patient(10), 60)

    def test_a_wait_in_vain_says_for_what_and_for_how_long(self):
        with self.assertRaisesRegex(AssertionError, r"waited \d+ s in vain for rain"):
            wait(lambda: False, 0.1, "rain")

    def test_what_changes_is_not_settled(self):
        values = iter([1, 2, 2, 3])
        self.assertEqual(settled(lambda: next(values, 4), 0.2, "four"), 4)


if __name__ == "__main__":
    unittest.main()
