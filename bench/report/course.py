#!/usr/bin/python3 -B
"""Plots a run of the simulator's grid second by second, as SVG.

    spillway-bench-grid --course --cell CELL --contender auto --contender true --seeds 1 > COURSE
    bench/report/course.py COURSE SLOTS PLOT"""

import sys

from plots import INK, pyplot, save

COLOURS = {"auto": "#0072b2", "true": "#e69f00"}


def read_courses(lines):
    """Of each contender a list of (second, limit, useful slots). Raises ValueError for anything else."""
    courses, course = {}, None
    for line in lines:
        words = line.split()
        if len(words) == 2:  # cell and contender
            course = courses.setdefault(words[1], [])
        elif words and words[0] != "s":
            course.append((int(words[0]), float(words[2]), float(words[7])))
    if not courses or not all(courses.values()):
        raise ValueError("there is no course")
    return courses


def plot(courses, slots, path):
    figure, (limits, useful) = pyplot.subplots(2, 1, figsize=(7.2, 4.4), sharex=True)
    for name, course in courses.items():
        seconds, limit, work = zip(*course)
        look = {"color": COLOURS.get(name, INK), "label": f"`{name}`", "linewidth": 1.5}
        limits.step(seconds, limit, where="post", **look)
        useful.plot(seconds, [done / slots for done in work], **look)
    limits.set(title="concurrency limit", yscale="log")
    useful.set(title="useful backend time / capacity", xlabel="s", ylim=(0, 1.15))
    limits.legend(loc="upper right")
    save(figure, path)


def main(arguments):
    if len(arguments) != 3:
        print("usage: course.py COURSE SLOTS PLOT", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as lines:
            plot(read_courses(lines), int(arguments[1]), arguments[2])
    except (OSError, ValueError, AttributeError, IndexError) as problem:
        print(f"course.py: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
