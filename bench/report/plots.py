"""The plots of the report, as SVG. The same figures make the same bytes: nothing in them depends on
the day or on chance."""

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from results import Cost, distinct, loads, over_repetitions, success
from tables import CPU_AIMS, display_name, load_text

pyplot.rcParams.update({
    "svg.hashsalt": "spillway", "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana"], "font.size": 9,
    "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e3e6ea", "axes.edgecolor": "#8a939e",
    "xtick.color": "#56606b", "ytick.color": "#56606b", "legend.frameon": False,
    "figure.constrained_layout.use": True})

# Colour and mark of each proxy; colours of Okabe and Ito, "Color Universal Design", 2008.
PROXIES = {"spillway": ("#0072b2", "o"), "haproxy": ("#d55e00", "s"), "nginx": ("#009e73", "^"),
           "relay": ("#cc79a7", "v"), "direct": ("#56606b", "X")}
INK = "#22272e"

# Panels of a plot of overload: title, class, figure, whether it is a time in ms.
PANELS = [("goodput / capacity", "all", "goodput_ratio", False),
          ("P0 success", "P0", success, False),
          ("P0 p99, ms", "P0", "p99_ms", True),
          ("P1 success", "P1", success, False),
          ("P2 success", "P2", success, False),
          ("p99 of a denial on arrival, ms", "all", "denied_on_arrival_p99_ms", True)]


def style(contender, contenders):
    """Of the variants of one proxy the last one measured has its full colour and a solid line."""
    proxy = contender.split("-")[0]
    colour, mark = PROXIES.get(proxy, ("#e69f00", "D"))
    variants = [name for name in contenders if name.split("-")[0] == proxy]
    behind = min(len(variants) - 1 - variants.index(contender), 2)
    paler = [1 - (1 - part) * (1 - 0.3 * behind) for part in to_rgb(colour)]
    return {"color": paler, "marker": mark, "markersize": 7 if proxy == "spillway" else 5.5,
            "linewidth": 2.2 if proxy == "spillway" else 1.3,
            "linestyle": ("-", "--", ":")[behind], "zorder": 4 if proxy == "spillway" else 3}


def mark_range(axes, spread, y, look, **label):
    """A mark at the median, and a line from the lowest to the highest."""
    axes.plot([spread.lowest, spread.highest], [y, y], color=look["color"], linewidth=1.5)
    axes.plot([spread.median], [y], **{**look, "linestyle": "none"}, **label)


def save(figure, path):
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def ratio_plot(cells, figure, title, path):
    """A figure relative to HAProxy's: a row a workload, a mark a contender at its median, a line
    from its lowest to its highest round. Nothing is drawn if there is no such ratio."""
    cost = Cost(cells)
    marks = {}
    for workload in cost.workloads:
        ratios = {name: cost.to_haproxy(workload, name, figure) for name in cost.contenders
                  if name not in ("haproxy", "direct")}
        if ratios := {name: spread for name, spread in ratios.items() if spread}:
            marks[workload] = ratios
    if not marks:
        return False
    sheet, axes = pyplot.subplots(figsize=(9, 1.4 + 0.36 * len(marks)))
    axes.axvline(1, color=INK, linewidth=1.2, zorder=2, label="HAProxy")
    for row, (workload, ratios) in enumerate(marks.items()):
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="#f6f7f9", zorder=0)
        for place, (name, spread) in enumerate(ratios.items()):
            y = row + 0.22 * (place - (len(ratios) - 1) / 2)
            mark_range(axes, spread, y, style(name, cost.contenders), label=display_name(name))
        if figure == "cpu_us" and (aim := CPU_AIMS.get(workload)):
            axes.plot([aim, aim], [row - 0.45, row + 0.45], color=INK, linewidth=1.2,
                      linestyle=(0, (2, 2)), label="aim below 1", zorder=2)
        if "spillway" in ratios:
            axes.text(1.01, row, f"{ratios['spillway'].median:.2f}", color=PROXIES["spillway"][0],
                      va="center",
                      transform=axes.get_yaxis_transform())
    axes.text(1.01, -0.75, "Spillway", color=PROXIES["spillway"][0],
              transform=axes.get_yaxis_transform())
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2,
                                               3, 4, 6]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_yticks(range(len(marks)), marks)
    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_title(title, pad=26)
    legend = dict(zip(*reversed(axes.get_legend_handles_labels())))  # each contender once
    axes.legend(legend.values(), legend, loc="lower left", bbox_to_anchor=(0, 1), ncol=len(legend),
                borderaxespad=0.2)
    save(sheet, path)
    return True


def draw_by_load(axes, spreads, all_loads, contenders):
    """A line for each contender through its medians, loads at even steps."""
    for name, points in spreads.items():
        aside = 0.06 * (contenders.index(name) - (len(contenders) - 1) / 2)  # not one on another
        x = [all_loads.index(load) + aside for load in points]
        look = style(name, contenders)
        axes.vlines(x, [each.lowest for each in points.values()],
                    [each.highest for each in points.values()], color=look["color"], linewidth=1)
        axes.plot(x, [each.median for each in points.values()], **look)
    axes.set_xticks(range(len(all_loads)), [load_text(load) for load in all_loads])
    axes.set_xlim(-0.4, len(all_loads) - 0.6)
    axes.grid(axis="x", visible=False)


def draw_by_contender(axes, spreads, contenders):
    """Of one load: a row for each contender."""
    for name, points in spreads.items():
        for each in points.values():
            mark_range(axes, each, contenders.index(name), style(name, contenders))
    axes.set_yticks(range(len(contenders)), [display_name(name) for name in contenders])
    axes.set_ylim(len(contenders) - 0.5, -0.5)


def scale(axis, axes, spreads, is_time):
    values = [value for points in spreads.values() for each in points.values()
              for value in each.values]
    if is_time and min(values) > 0:
        getattr(axes, f"set_{axis}scale")("log")
        getattr(axes, f"set_{axis}lim")(min(values) / 1.6, max(values) * 1.6)
        side = getattr(axes, f"{axis}axis")
        side.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
        side.set_minor_locator(NullLocator())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        getattr(axes, f"set_{axis}lim")(-0.04, max(1.04, max(values) * 1.04))


def panel_grid(count, height, head):
    """A sheet with so many panels of a height, three in a row, below a head; in inches."""
    rows = (count + 2) // 3
    total = head + rows * height
    sheet, grid = pyplot.subplots(rows, 3, figsize=(10, total), squeeze=False)
    sheet.get_layout_engine().set(rect=(0, 0, 1, 1 - head / total), h_pad=0.08, w_pad=0.06)
    for axes in grid.flat[count:]:
        axes.remove()
    return sheet, list(grid.flat[:count])


def load_plot(cells, scenario, path):
    """What became of one overload scenario, a panel a figure; nothing is drawn if there is none."""
    cells = [cell for cell in cells if cell["scenario"] == scenario]
    all_loads, contenders = loads(cells, scenario), distinct(cells, "contender")
    panels = []
    for title, cls, figure, is_time in PANELS:
        spreads = {name: {load: spread for load in all_loads if
                          (spread := over_repetitions(cells, scenario, load, name, figure, cls))}
                   for name in contenders}
        if any(spreads.values()):
            panels.append((title, {name: each for name, each in spreads.items() if each}, is_time))
    if not panels:
        return False
    by_load = len(all_loads) > 1
    sheet, grid = panel_grid(len(panels), 2.5 if by_load else 0.9 + 0.22 * len(contenders),
                             0.35 + (0.22 * ((len(contenders) + 3) // 4) if by_load else 0))
    for place, (axes, (title, spreads, is_time)) in enumerate(zip(grid, panels)):
        axes.set_title(title)
        if by_load:
            draw_by_load(axes, spreads, all_loads, contenders)
        else:
            draw_by_contender(axes, spreads, contenders)
            if place % 3:
                axes.set_yticklabels([])
        scale("y" if by_load else "x", axes, spreads, is_time)
    top = 1 - 0.08 / sheet.get_figheight()
    sheet.suptitle(scenario + ("" if by_load else f", load {load_text(all_loads[0])}"), x=0.008,
                   y=top, ha="left", va="top", fontweight="bold", fontsize=12)
    if by_load:
        sheet.legend(handles=[pyplot.Line2D([], [], label=display_name(name),
                                            **style(name, contenders)) for name in contenders],
                     loc="upper left", bbox_to_anchor=(0, top - 0.2 / sheet.get_figheight()),
                     ncol=4, handlelength=3)
    save(sheet, path)
    return True
