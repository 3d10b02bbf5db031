"""`slackline fit` and `slackline predict` as a person uses them: from measurements to predictions."""

import csv
import json
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from support.daemon import slackline_binary

FIELDS = ["model", "gpu_type", "batch", "placement", "throughput_samples_per_s"]


def slackline(*arguments):
    return subprocess.run([slackline_binary(), *map(str, arguments)], text=True, capture_output=True, timeout=120)


def measured(batch, nodes, per_node):
    """A machine that spends 10 ms on a step, 1 ms on a sample, 2 ms on each GPU beyond the first."""
    gpus = nodes * per_node
    return batch / (0.010 + 0.001 * batch / gpus + 0.002 * (gpus - 1))


class ModelsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.samples = self.write(
            "samples.csv",
            [
                ["net", "T4", batch, f"{n}x{g}", measured(batch, n, g)]
                for n, g in [(1, 1), (1, 2), (1, 4), (2, 4), (4, 4)]
                for batch in (32, 64, 128, 256)
            ],
        )

    def write(self, name, rows):
        path = self.directory / name
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows])
        return path

    def fit(self):
        profile = self.directory / "profile.json"
        done = slackline(
            "fit",
            self.samples,
            "--out",
            profile,
            "--report",
            self.directory / "report.json",
            "--svg",
            self.directory / "fit.svg",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return profile, done.stdout

    def test_measurements_become_a_profile_a_report_and_a_drawing(self):
        profile, table = self.fit()
        self.assertIn("HELD-OUT %", table)
        [row] = json.loads((self.directory / "report.json").read_text())["models"]
        self.assertEqual((row["model"], row["gpu_type"], row["points"]), ("net", "T4", 20))
        self.assertLess(row["held_out_mape"], 8)
        self.assertIsNone(row["noise_floor"], "nothing was measured twice")
        drawing = xml.etree.ElementTree.parse(self.directory / "fit.svg").getroot()
        self.assertIn("net T4", "".join(drawing.itertext()))
        before = profile.read_bytes()
        self.fit()
        self.assertEqual(profile.read_bytes(), before, "the same samples give the same bytes")

    def test_rows_of_a_file_are_answered_in_place(self):
        profile, _ = self.fit()
        questions = self.write("questions.csv", [["net", "T4", 128, "2x2", ""], ["other", "T4", 8, "1x1", ""]])
        answers = self.directory / "answers.csv"
        done = slackline("predict", "--profile", profile, "--samples", questions, "--out", answers)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 2 rows", done.stderr)
        with open(answers, newline="") as file:
            known, unknown = csv.DictReader(file)
        truth = measured(128, 2, 2)
        self.assertLess(abs(float(known["predicted"]) / truth - 1), 0.15)
        self.assertLessEqual(float(known["low"]), float(known["predicted"]))
        self.assertGreaterEqual(float(known["high"]), float(known["predicted"]))
        self.assertEqual((known["source"], unknown["source"], unknown["predicted"]), ("fitted", "unknown", ""))

    def test_shapes_of_a_platform_and_one_placement(self):
        profile, _ = self.fit()
        question = ["predict", "--profile", profile, "--model", "net", "--batch", 128, "--gpu-type", "T4"]
        shapes = slackline(*question, "--platform", "2x4", "--iterations", 100)
        self.assertEqual(len(shapes.stdout.splitlines()), 1 + 6, shapes.stdout)  # 1x3 and 2x3 do not divide 128
        one = slackline(*question, "--placement", "2+1")
        self.assertTrue(one.stdout.splitlines()[1].startswith("2+1 "), one.stdout)

    def test_an_update_keeps_the_other_models(self):
        profile, _ = self.fit()
        more = self.write("more.csv", [["second", "T4", b, "1x1", b / (0.01 + 0.001 * b)] for b in (8, 16, 32)])
        done = slackline("fit", more, "--out", profile, "--update")
        self.assertEqual(done.returncode, 0, done.stderr)
        entries = json.loads(profile.read_text())["entries"]
        self.assertEqual([entry["model"] for entry in entries], ["net", "second"])

    def test_mistakes_are_told_with_the_place_and_nothing_is_written(self):
        wrong = self.write("wrong.csv", [["net", "T4", 8, "1x1", 5], ["net", "T4", "many", "4x4", -1]])
        out = self.directory / "none.json"
        done = slackline("fit", wrong, "--out", out)
        self.assertEqual(done.returncode, 3)
        for part in ("wrong.csv: 2 values are wrong", 'line 3: batch: "many"', "line 3: throughput_samples_per_s"):
            self.assertIn(part, done.stderr)
        self.assertFalse(out.exists())
        self.assertEqual(slackline("fit", self.samples, "--kind", "Z").returncode, 2)
        self.assertEqual(slackline("fit", self.samples, "--holdout", "kfold:x").returncode, 2)
        unknown = slackline("predict", "--model", "none", "--batch", 8, "--gpu-type", "T4")
        self.assertEqual(unknown.returncode, 4)
        self.assertIn("it has", unknown.stderr)


if __name__ == "__main__":
    unittest.main()
