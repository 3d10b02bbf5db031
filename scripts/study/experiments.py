"""What the parts of the study share: running `slackline simulate`, means, Markdown and a chart."""

import concurrent.futures
import csv
import io
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SLACKLINE_SHARED", ROOT.parent / "shared"))
BINARY = pathlib.Path(os.environ.get("SLACKLINE", ROOT / "build/release/slackline"))
DOCS = ROOT / "docs/study"
JOBS = 2


def shown(argument):
    """A path as a reader can use it: relative to the repository or to $SLACKLINE_SHARED."""
    text = str(argument)
    text = text.replace(str(SHARED), "$SLACKLINE_SHARED").replace(str(BINARY), "slackline")
    return text.replace(str(ROOT) + "/", "")


def command_line(arguments):
    return " ".join(["slackline", "simulate", *map(shown, arguments)])


def slackline(arguments):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"slackline {' '.join(map(shown, arguments))}\n{done.stderr}")


def report(arguments):
    """The JSON that a command of slackline writes with --report."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        slackline([*arguments, "--report", out.name])
        return json.load(out)


def preset(arguments):
    """{policy: {figure: number}} of `simulate --preset`."""
    return {row["name"]: row for row in report(["simulate", "--preset", *arguments])["policies"]}


def simulate(arguments):
    """{policy: {field: number or None}} of one run, the bound among them; messages of the loader."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        done = subprocess.run(
            [BINARY, "simulate", *map(str, arguments), "--table", table.name], capture_output=True, text=True
        )
        if done.returncode != 0:
            sys.exit(f"{command_line(arguments)}\n{done.stderr}")
        rows = csv.DictReader(io.StringIO(pathlib.Path(table.name).read_text()))
        figures = {row.pop("policy"): {k: float(v) if v else None for k, v in row.items()} for row in rows}
    assumed = [line[len("assumed: ") :] for line in done.stderr.splitlines() if line.startswith("assumed: ")]
    return figures, assumed


def simulate_all(runs):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(lambda run: simulate(run)[0], runs))


class Sample:
    """One figure over the seeds."""

    def __init__(self, values):
        self.mean = statistics.mean(values)
        self.sd = statistics.stdev(values) if len(values) > 1 else 0.0

    def text(self, decimals=1, spread=True):
        return f"{self.mean:.{decimals}f}" + (f" ±{self.sd:.{decimals}f}" if spread else "")


def collect(runs, policy, field):
    return Sample([run[policy][field] for run in runs])


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#a0522d", "#333"]
DASHES = ["", "8 3", "2 2", "8 3 2 3", "", "8 3", "2 2", "1 3"]


def line_chart(title, x_label, y_label, xs, series, y_top):
    """SVG; `series` is [(name, [y for each x])], told apart by colour and dash."""
    left, top, width, height = 64, 44, 560, 340

    def at_x(x):
        return left + width * (x - xs[0]) / (xs[-1] - xs[0])

    def at_y(y):
        return top + height * (1 - y / y_top)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {left + width + 200} '
        f'{top + height + 60}" width="{left + width + 200}" height="{top + height + 60}">',
        f"<title>{title}</title>",
        "<style>text{font:12px system-ui,sans-serif;fill:#333}.m{text-anchor:middle}"
        ".e{text-anchor:end}.g{stroke:#ddd}path{fill:none;stroke-width:2}</style>",
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="24" style="font-size:15px;font-weight:600">{title}</text>',
    ]
    for x in xs:
        out.append(f'<path class="g" style="stroke-width:1" d="M{at_x(x):.1f} {top}v{height}"/>')
        out.append(f'<text class="m" x="{at_x(x):.1f}" y="{top + height + 18}">{x}</text>')
    for step in range(6):
        y = y_top * step / 5
        out.append(f'<path class="g" style="stroke-width:1" d="M{left} {at_y(y):.1f}h{width}"/>')
        out.append(f'<text class="e" x="{left - 8}" y="{at_y(y) + 4:.1f}">{y:g}</text>')
    out.append(f'<text class="m" x="{left + width / 2}" y="{top + height + 44}">{x_label}</text>')
    out.append(f'<text class="m" transform="translate(18 {top + height / 2}) rotate(-90)">{y_label}</text>')
    for i, (name, ys) in enumerate(series):
        look = f'stroke="{COLOURS[i % 8]}" stroke-dasharray="{DASHES[i % 8]}"'
        points = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in zip(xs, ys))
        out.append(f'<path {look} d="M{points}"><title>{name}</title></path>')
        legend = top + 14 + 20 * i
        out.append(f'<path {look} d="M{left + width + 16} {legend}h28"/>')
        out.append(f'<text x="{left + width + 50}" y="{legend + 4}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


def need_binary():
    if not BINARY.exists():
        sys.exit(f"no {BINARY}: run `make build` first, or set SLACKLINE")
    DOCS.mkdir(parents=True, exist_ok=True)
