"""Reads the BGEO files with a parser of the classic format, and with splashsurf, and compares what they find.

splashsurf knows vectors and single numbers only, so it gets a copy without the colour, which is three single numbers.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import meshio
import numpy

from expected import check_points, equal, linear, near, runs

# It can be called only once in a process.
SPLASHSURF = "import pysplashsurf, sys; pysplashsurf.run_splashsurf(['splashsurf', *sys.argv[1:]])"
KINDS = {0: ">f4", 1: ">i4", 5: ">f4"}


def parse(data):
    """Values by name, and the bytes of the file with the colour left out."""
    equal(data[:5], b"BgeoV", "name of the format")
    head = struct.unpack(">9i", data[5:41])
    version, count, primitives, point_groups, primitive_groups, values = head[:6]
    equal((version, primitives, point_groups, primitive_groups, head[6:]), (5, 0, 0, 0, (0, 0, 0)), "header")
    fields, at, kept = [("P", ">f4", 4)], 41, []
    for _ in range(values):
        start = at
        (length,) = struct.unpack_from(">H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        size, kind = struct.unpack_from(">Hi", data, at + 2 + length)
        at += 2 + length + 6 + 4 * size
        fields.append((name, KINDS[kind], size))
        if name != "Cd":
            kept.append(data[start:at])
    record = numpy.dtype([(name, kind, (size,)) for name, kind, size in fields])
    points = numpy.frombuffer(data, dtype=record, count=count, offset=at)
    equal(data[at + count * record.itemsize :], b"\x00\xff", "end of the file")
    return points, without_colour(points, fields, kept, head)


def without_colour(points, fields, kept, head):
    left = [field for field in fields if field[0] != "Cd"]
    copy = numpy.empty(len(points), dtype=[(name, kind, (size,)) for name, kind, size in left])
    for name, _, _ in left:
        copy[name] = points[name]
    head = struct.pack(">9i", *head[:5], len(left) - 1, *head[6:])
    return b"BgeoV" + head + b"".join(kept) + copy.tobytes() + b"\x00\xff"


def check(run, frame, folder):
    what = f"{run.folder.name}: frame {frame['frame']}"
    points, plain = parse((run.folder / "bgeo" / f"particles_{frame['frame']:05}.bgeo").read_bytes())
    shown, number = frame["particles"], frame["particles"]["point"]
    check_points(points["P"][:, :3], shown, what)
    near(points["P"][:, 3], numpy.ones(len(points)), f"{what}: fourth coordinate")
    near(points["v"][number], shown["velocity"], f"{what}: velocity")
    near(points["temperature"][number][0], shown["temperature"], f"{what}: temperature")
    equal(points["id"][:, 0].tolist(), list(range(shown["count"])), f"{what}: numbers")
    for i, body in enumerate(frame["bodies"]):
        own = points["body"][:, 0] == i
        equal(int(own.sum()), body["particles"], f"{what}: particles of {body['name']}")
        near(points["Cd"][own][0], linear(body["color"]), f"{what}: colour of {body['name']}", 1e-5)
        near(points["pscale"][own][0][0], body["radius"], f"{what}: radius of {body['name']}")
    source, target = folder / "plain.bgeo", folder / "plain.vtk"
    source.write_bytes(plain)
    convert = ["convert", "--particles", str(source), "-o", str(target), "--overwrite", "-q"]
    subprocess.run([sys.executable, "-c", SPLASHSURF, *convert], check=True, stdout=subprocess.DEVNULL)
    check_points(meshio.read(target).points, shown, f"{what}, as splashsurf reads it")


with tempfile.TemporaryDirectory() as name:
    for run in runs():
        for frame in run.looked_at:
            check(run, frame, Path(name))
        print(f"bgeo: {run.folder.name} is as simulated")
