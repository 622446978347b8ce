"""Reads the PLY files with meshio and compares them with what was simulated."""

import meshio

from expected import check_points, equal, near, runs


def check_particles(run, frame):
    what = f"{run.folder.name}: particles in frame {frame['frame']}"
    data = meshio.read(run.folder / "ply" / f"particles_{frame['frame']:05}.ply")
    shown, number = frame["particles"], frame["particles"]["point"]
    check_points(data.points, shown, what)
    near([data.point_data[key][number] for key in ("vx", "vy", "vz")], shown["velocity"], f"{what}: velocity")
    near(data.point_data["temperature"][number], shown["temperature"], f"{what}: temperature")
    assert "strain" in data.point_data, f"{what}: there is no strain"


def check_skin(run, frame):
    what = f"{run.folder.name}: skins in frame {frame['frame']}"
    data = meshio.read(run.folder / "ply" / f"skin_{frame['frame']:05}.ply")
    triangles = sum(len(block.data) for block in data.cells if block.type == "triangle")
    equal(triangles, sum(body["triangles"] for body in frame["bodies"]), f"{what}: triangles")
    for i, body in enumerate(frame["bodies"]):
        if body["kind"] == "mesh":
            own, number = data.point_data["body"] == i, body["shown"]["point"]
            check_points(data.points[own], body["shown"], f"{what}, {body['name']}")
            near(data.point_data["temperature"][own][number], body["shown"]["temperature"], f"{what}: temperature")


for run in runs():
    for frame in run.looked_at:
        check_particles(run, frame)
        check_skin(run, frame)
    print(f"ply: {run.folder.name} is as simulated")
