"""What the files of a run have to hold, as the program that made them noted it down."""

import json
import sys
from pathlib import Path

import numpy

# Positions are written as they are, so readers find them to the last bit or one rounding away.
TOLERANCE = 1e-6


class Expected:
    """The facts of one run."""

    def __init__(self, folder):
        self.folder = Path(folder)
        facts = json.loads((self.folder / "expected.json").read_text())
        self.title = facts["title"]
        self.frame_rate = facts["frame_rate"]
        self.picture = tuple(facts["picture"])
        self.frames = facts["frames"]
        self.looked_at = [self.frames[number] for number in facts["looked_at"]]

    def bodies(self, kind=None):
        """Every body that is ever there, with the facts of its first frame."""
        found = {}
        for frame in self.frames:
            for body in frame["bodies"]:
                found.setdefault(body["name"], body)
        return [body for body in found.values() if kind in (None, body["kind"])]

    def keeps_triangles(self, name):
        """Whether a body has the same number of vertices and triangles in every frame."""
        shapes = {(b["shown"]["count"], b["triangles"]) for f in self.frames for b in f["bodies"] if b["name"] == name}
        return len(shapes) == 1


def runs():
    """The runs below the folder on the command line."""
    folder = Path(sys.argv[1])
    found = [Expected(path.parent) for path in sorted(folder.glob("*/expected.json"))]
    assert found, f"{folder} holds no runs; make them with `cargo run --example export_sample -- {folder}`"
    return found


def check_points(points, shown, what, tolerance=TOLERANCE):
    """Compares points with the facts about them: number, bounds and one of them."""
    points = numpy.asarray(points, dtype=float).reshape(-1, 3)
    equal(len(points), shown["count"], f"{what}: number of points")
    near(points.min(axis=0), shown["low"], f"{what}: lowest corner", tolerance)
    near(points.max(axis=0), shown["high"], f"{what}: highest corner", tolerance)
    near(points[shown["point"]], shown["at"], f"{what}: point {shown['point']}", tolerance)


def near(found, wanted, what, tolerance=TOLERANCE):
    """Numbers, or lists of them, that are almost the same."""
    found, wanted = numpy.asarray(found, dtype=float), numpy.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape, f"{what}: {found.shape} instead of {wanted.shape}"
    allowed = tolerance * (1.0 + numpy.abs(wanted))
    assert (numpy.abs(found - wanted) <= allowed).all(), f"{what}: {found} instead of {wanted}"


def equal(found, wanted, what):
    """Things that are the same."""
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"


def linear(color):
    """From numbers as screens use them to numbers in proportion to light."""
    color = numpy.asarray(color, dtype=float)
    return numpy.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def plain(name):
    """A name as USD allows it."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
