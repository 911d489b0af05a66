"""The tables of slow and greedy clients (bench/hostile): what P0 got meanwhile."""

from results import distinct
from tables import display_name, markdown, number, sections

AIM = 0.999  # of the requests of P0, answered within a second
CONTROL = "none"
HOSTILE_NOTES = """\
Slow and greedy clients attack, one behaviour at a time, each with less than 1 MB/s and at most 1000
connections. The figures are of honest requests of P0 meanwhile (200 a second; with 50 of P1 they occupy 5 of
the backend's 16 workers): the part that was answered within a second. Aim: 99.9 %, missed where a figure is bold.
Attacks come from 100 addresses, in the columns "1 address" from a single one, slowhttptest always. Each figure
is of some 1000 requests, in 5 s from the attack's beginning, so one is 0.1 %. Behaviours and contenders: `bench/hostile/README.md`.
"""


def _columns(cells):
    """(contender, from a single address), as they came. The control and slowhttptest have no choice of
    addresses, so they are in the contender's first column."""
    columns = []
    for cell in cells:
        key = (cell["contender"], _is_single(cell))
        if key not in columns:
            columns.append(key)
    return sorted(columns, key=lambda key: distinct(cells, "contender").index(key[0]))


def _is_single(cell):
    has_choice = cell["behaviour"] != CONTROL and not cell["behaviour"].startswith("slowhttptest")
    return has_choice and cell["addresses"] == 1


def _at(cells, behaviour, column):
    return [cell for cell in cells if not cell.get("failure") and cell["behaviour"] == behaviour
            and (cell["contender"], _is_single(cell)) == column]


def answered(cells):
    """Of the requests of P0 in these cells together; None without any."""
    sent = sum(cell.get("sent", 0) for cell in cells)
    return sum(cell["answered"] for cell in cells if cell.get("sent")) / sent if sent else None


def _percent(ratio):
    if ratio is None:
        return ""
    text = f"{ratio * 100:.2f}"
    return text if ratio >= AIM else f"**{text}**"


def _worst(cells, figure):
    values = [cell[figure] for cell in cells if cell.get(figure) is not None]
    return number(max(values)) if values else ""


def _table(cells, what, text_of):
    columns = _columns(cells)
    rows = [[behaviour, *(text_of(_at(cells, behaviour, column)) for column in columns)]
            for behaviour in distinct(cells, "behaviour")]
    return markdown([what, *(display_name(name) + (", 1 address" if single else "")
                             for name, single in columns)], rows)


def hostile_tables(cells):
    """P0 answered, its p99, and the means of each attack (the most that any contender let it use)."""
    if not cells:
        return ""
    means = [[behaviour, *(_worst([cell for cell in cells if cell["behaviour"] == behaviour
                                   and not cell.get("failure")], figure)
                           for figure in ("attack_connections", "attack_bytes_per_s"))]
             for behaviour in distinct(cells, "behaviour") if behaviour != CONTROL]
    return sections(
        _table(cells, "P0 answered, %", lambda found: _percent(answered(found))),
        _table(cells, "P0 p99, ms", lambda found: _worst(found, "p99_ms")),
        _table(cells, "at once in the backend (16)", lambda found: _worst(found, "backend_most")),
        markdown(["attack, at most", "connections", "bytes/s"], means))


def hostile_remarks(cells):
    return "".join(f"* Failed: {cell['behaviour']} from {cell['addresses']}, "
                   f"{display_name(cell['contender'])}, round {cell['round']}: {cell['failure']}\n"
                   for cell in cells if cell.get("failure"))
