"""Alerts and boards: what they ask for is in the list of metrics, and each alert fires when it should and is quiet otherwise."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from support.controlplane import ROOT
from support.metric_list import listed

RULES = ROOT / "deploy/helm/slackline/prometheus/rules.yaml"
BOARDS = ROOT / "deploy/helm/slackline/grafana"
RUNBOOKS = "https://slackline.example/docs/ALERTS.md#"
PAGE = ROOT / "docs/ALERTS.md"
SELECTOR = re.compile(r"\b((?:slackline|process)_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
DAY_M = 24 * 60


def growing(a_minute):
    return f"0+{a_minute}x3000"


def steady(value):
    return f"{value}x3000"


def ended(deadline, a_minute, instance="a"):
    return {
        f'slackline_jobs_completed_total{{queue="q",class="normal",deadline="{deadline}",instance="{instance}"}}': growing(
            a_minute
        )
    }


def took(seconds_le, of=100):
    """A hundred calls of filter in a minute, all of which took at most so long."""
    name = 'slackline_extender_request_duration_seconds_bucket{verb="filter",le="%s"}'
    return {
        name % le: growing(of if le == "+Inf" or float(le) >= seconds_le else 0) for le in ("0.25", "0.5", "1", "+Inf")
    }


THERE = {'slackline_build_info{version="0.1.0",mode="active"}': steady(1)}
# Alert: minutes until it is asked, series, labels and summary where it fires; series where it is quiet.
CASES = {
    "SlacklineDeadlinesMissed": (
        DAY_M,
        # Two replicas count the same Jobs.
        {**ended("missed", 1), **ended("met", 1), **ended("missed", 1, "b"), **ended("met", 1, "b")},
        {"severity": "warning"},
        "50% of today's Jobs with a deadline have missed it",
        {**ended("missed", 0.1), **ended("met", 1)},
    ),
    "SlacklineForecastsDrift": (
        DAY_M,
        {
            'slackline_forecast_covered_ratio{of="start"}': steady(0.5),
            'slackline_forecast_intervals_total{queue="q",of="start",held="false"}': growing(1),
        },
        {"severity": "warning", "of": "start"},
        "50% of the forecasts of a start hold, 80 % should",
        {
            'slackline_forecast_covered_ratio{of="start"}': steady(0.5),
            'slackline_forecast_intervals_total{queue="q",of="start",held="false"}': growing(0.01),
        },
    ),
    "SlacklineNobodyLeads": (
        10,
        {**THERE, 'slackline_queue_waiting{reason="NotLed"}': steady(3)},
        {"severity": "critical"},
        "Tasks wait and no replica plans, or no replica is scraped",
        {**THERE, 'slackline_queue_waiting{reason="NotLed"}': steady(0)},
    ),
    "SlacklineGpusIdle": (
        30,
        {**THERE, "slackline_queue_could_start": steady(2), "slackline_plan_starts_total": steady(7)},
        {"severity": "critical"},
        "2 tasks wait though free GPUs could take them, and none is started",
        {**THERE, "slackline_queue_could_start": steady(2), "slackline_plan_starts_total": growing(1)},
    ),
    "SlacklineExtenderUnwell": (
        15,
        took(1),
        {"severity": "critical", "is": "slow", "verb": "filter"},
        "The extender is slow at filter",
        {**took(0.25), 'slackline_extender_requests_total{verb="filter",result="ok"}': growing(9)},
    ),
    "SlacklineWebhookSilent": (
        90,
        {"slackline_plan_starts_total": growing(1)},
        {"severity": "warning", "is": "silent"},
        "The webhook is silent: new Jobs start without waiting their turn",
        {
            "slackline_plan_starts_total": growing(1),
            'slackline_webhook_requests_total{stage="mutate",result="changed"}': growing(0.1),
        },
    ),
    "SlacklineCertificateExpires": (
        120,
        {'slackline_tls_certificate_expiry_seconds{listener="webhook"}': steady(7200 + 3 * 86400)},
        {"severity": "warning", "listener": "webhook"},
        "The certificate of webhook expires in 3d 0h 0m 0s",
        {
            'slackline_tls_certificate_expiry_seconds{listener="webhook"}': steady(7200 + 30 * 86400),
            'slackline_tls_certificate_expiry_seconds{listener="health"}': steady(0),
        },
    ),
    "SlacklineStoreDamaged": (
        10,
        {'slackline_model_store_damaged{outcome="lost"}': steady(1)},
        {"severity": "warning", "store": "models"},
        "The store of models is damaged, or cannot be written",
        {'slackline_model_store_damaged{outcome="restored"}': steady(1), "slackline_journal_degraded": steady(0)},
    ),
}
MORE_THAT_FIRE = {  # what else the same alert finds
    "SlacklineNobodyLeads": [(10, {}, {"severity": "critical"}, CASES["SlacklineNobodyLeads"][3])],
    "SlacklineExtenderUnwell": [
        (
            15,
            {'slackline_extender_requests_total{verb="prioritize",result="bad_request"}': growing(1)},
            {"severity": "critical", "is": "failing", "verb": "prioritize"},
            "The extender is failing at prioritize",
        ),
        (
            15,
            {"slackline_cache_age_seconds": steady(100)},
            {"severity": "critical", "is": "blind"},
            "The extender is blind",
        ),
        (
            10,
            {"slackline_scheduler_alone": steady(1)},
            {"severity": "critical", "is": "not asked"},
            "The extender is not asked",
        ),
    ],
    "SlacklineWebhookSilent": [
        (
            15,
            {"slackline_unreviewed_jobs": steady(2)},
            {"severity": "warning", "is": "passed by"},
            "The webhook is passed by: new Jobs start without waiting their turn",
        )
    ],
    "SlacklineStoreDamaged": [
        (
            10,
            {metric: steady(1)},
            {"severity": "warning", "store": "decisions"},
            "The store of decisions is damaged, or cannot be written",
        )
        for metric in ("slackline_journal_degraded", "slackline_journal_damaged")
    ],
}


def unknown(expression):
    """What of a PromQL text is not in the list: metrics, their labels, values of these."""
    known = {series: metric for metric in listed() for series in metric.series()}
    for name, matchers in SELECTOR.findall(expression):
        if name not in known:
            yield name
            continue
        for label, _, text in MATCHER.findall(matchers):
            values = known[name].labels.get(label)
            if values is None and label not in ("le", "job"):
                yield f"{name}{{{label}}}"
            elif values and not text.startswith("$"):
                yield from (f'{name}{{{label}="{each}"}}' for each in text.split("|") if each not in values)


def test_of(alert, asked_m, series, labels=None, summary=""):
    """One of promtool's; without labels the alert must be quiet."""
    runbook = RUNBOOKS + alert.lower()
    expected = (
        [{"exp_labels": labels, "exp_annotations": {"summary": summary, "runbook_url": runbook}}] if labels else []
    )
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{asked_m}m", "alertname": alert, "exp_alerts": expected}],
    }


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


class BoardsTest(unittest.TestCase):
    def test_every_panel_asks_for_metrics_of_the_list(self):
        asked = []
        for path in sorted(BOARDS.glob("*.json")):
            board = json.loads(path.read_text())
            self.assertEqual(board["uid"], path.stem)
            expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
            self.assertGreaterEqual(len(expressions), 10)
            for variable in board["templating"]["list"]:
                if variable["type"] == "query":
                    self.assertEqual(list(unknown(variable["query"])), [])
                    self.assertTrue(any(f"${variable['name']}" in each for each in expressions), variable["name"])
            asked += expressions
        self.assertEqual(len(list(BOARDS.glob("*.json"))), 3)
        self.assertEqual([name for each in asked for name in unknown(each)], [])
        rules = [{"record": f"board:{number}", "expr": each} for number, each in enumerate(asked)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "asked.yaml")
            path.write_text(json.dumps({"groups": [{"name": "boards", "rules": rules}]}))
            status, said = promtool("check", "rules", path)
        self.assertEqual(status, 0, said)


class AlertsTest(unittest.TestCase):
    def test_rules_are_about_metrics_of_the_list(self):
        status, said = promtool("check", "rules", RULES)
        self.assertEqual(status, 0, said)
        self.assertIn("8 rules found", said)
        self.assertEqual(list(unknown(RULES.read_text())), [])

    def test_each_fires_and_stays_quiet(self):
        self.assertEqual(sorted(CASES), sorted(re.findall(r"- alert: (\w+)", RULES.read_text())))
        tests = []
        for alert, (asked_m, fires, labels, summary, quiet) in CASES.items():
            tests.append(test_of(alert, asked_m, fires, labels, summary))
            tests.append(test_of(alert, asked_m, quiet))
            tests += [test_of(alert, *more) for more in MORE_THAT_FIRE.get(alert, [])]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "test.yaml")
            path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "5m", "tests": tests}))
            status, said = promtool("test", "rules", path)
        self.assertEqual(status, 0, said)

    def test_each_has_a_section_to_go_to(self):
        text = PAGE.read_text()
        for alert in CASES:
            with self.subTest(alert):
                section = re.search(rf"^## {alert}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
                self.assertIsNotNone(section)
                self.assertIn("```sh\n", section[1], "a command to begin with")
                self.assertIn(f"runbook_url: {RUNBOOKS}{alert.lower()}\n", RULES.read_text())


if __name__ == "__main__":
    unittest.main()
