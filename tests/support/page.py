"""Pages of the documentation whose figures a script writes, between two markers."""


def write_block(path, script, lines):
    """Replaces what stands between `<!-- written by SCRIPT -->` and the next `<!-- end -->`."""
    begin, end = f"<!-- written by {script} -->", "<!-- end -->"
    text = path.read_text()
    before, found, rest = text.partition(begin)
    assert found and end in rest, f"{path} has no place for what {script} writes"
    after = rest[rest.index(end) :]
    path.write_text(f"{before}{begin}\n" + "\n".join(lines).strip() + f"\n{after}")
