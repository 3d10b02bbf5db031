"""Pages of the documentation whose figures a script writes, between two markers."""

import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPARISON = "scripts/bench-cluster comparison"
_END = "<!-- end -->"


def _parts(path, script):
    begin = f"<!-- written by {script} -->"
    before, found, rest = path.read_text().partition(begin)
    assert found and _END in rest, f"{path} has no place for what {script} writes"
    inside, _, after = rest.partition(_END)
    return before + begin, inside, _END + after


def block(path, script):
    """What stands between `<!-- written by SCRIPT -->` and the next `<!-- end -->`."""
    return _parts(path, script)[1].strip()


def write_block(path, script, lines):
    """Replaces it."""
    before, _, after = _parts(path, script)
    path.write_text(f"{before}\n" + "\n".join(lines).strip() + f"\n{after}")


def shipped_policy():
    """The policy of a daemon that is told none."""
    return re.search(r'std::string policy = "(\S+)";', (ROOT / "src/config/configuration.h").read_text())[1]


def headline(record):
    """README's sentences: what the record of the comparison says of the shipped policy; of deadlines the median run."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in record.splitlines() if line.startswith("|")
    ]
    figures = {row[0]: row for row in rows}
    ours = next(at for at, head in enumerate(rows[0]) if head.split()[:1] == [shipped_policy()])  # "default 2"
    stock = rows[0].index("stock scheduler")
    seconds = [f"{float(figures['all done after'][at].removesuffix(' s')):.0f} s" for at in (ours, stock)]
    runs = next(row[1] for row in rows if row[0].startswith("deadlines met with preemption"))
    met, of = re.search(r"\(([\d, ]+) of (\d+)\)", runs).groups()
    met = sorted(map(int, met.split(", ")))
    return textwrap.fill(
        "60 Jobs with deadlines on 4 x 4 GPUs, on a real control plane with the unmodified kube-scheduler: Slackline meets "
        f"{met[len(met) // 2]} of {of} deadlines, and all is done after {seconds[0]}. kube-scheduler alone meets "
        f"{figures['deadlines met'][stock].split()[0]} and needs {seconds[1]} "
        "([how it was measured](docs/study/live.md)).",
        width=118, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def write_headline(readme, page):
    write_block(readme, COMPARISON, headline(block(page, COMPARISON)).splitlines())
