"""Reads the VTK files and the lists of their times with VTK and compares them with what was simulated."""

import xml.etree.ElementTree as tree

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from expected import check_points, equal, near, runs


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    equal(reader.GetErrorCode(), 0, f"{path}: errors")
    return reader.GetOutput()


def array(data, name):
    found = data.GetPointData().GetArray(name)
    assert found is not None, f"there is no array named {name}"
    return vtk_to_numpy(found)


def check_list(run, name, frames):
    entries = tree.parse(run.folder / "vtk" / f"{name}.pvd").getroot().findall("Collection/DataSet")
    equal([entry.get("file") for entry in entries], [f"{name}_{f['frame']:05}.vtp" for f in frames], f"{name}.pvd")
    near([float(entry.get("timestep")) for entry in entries], [f["time"] for f in frames], f"{name}.pvd: times")
    for entry in entries:
        assert (run.folder / "vtk" / entry.get("file")).is_file(), entry.get("file")


def check_frame(data, frame, what):
    near(data.GetFieldData().GetArray("TimeValue").GetValue(0), frame["time"], f"{what}: time")
    names = data.GetFieldData().GetAbstractArray("bodies")
    found = [names.GetValue(i) for i in range(names.GetNumberOfValues())]
    equal(found, [body["name"] for body in frame["bodies"]], f"{what}: names")


def check_particles(run, frame):
    what = f"{run.folder.name}: particles in frame {frame['frame']}"
    data = read(run.folder / "vtk" / f"particles_{frame['frame']:05}.vtp")
    shown, number = frame["particles"], frame["particles"]["point"]
    check_frame(data, frame, what)
    check_points(vtk_to_numpy(data.GetPoints().GetData()), shown, what)
    equal(data.GetNumberOfVerts(), shown["count"], f"{what}: one cell for each")
    near(array(data, "velocity")[number], shown["velocity"], f"{what}: velocity")
    near(array(data, "temperature")[number], shown["temperature"], f"{what}: temperature")
    near(array(data, "mass").astype(float).sum(), frame["mass"], f"{what}: mass", 1e-5)
    equal(set(array(data, "phase").tolist()), {0}, f"{what}: all are solid")
    counts = [(array(data, "body") == i).sum() for i in range(len(frame["bodies"]))]
    equal(counts, [body["particles"] for body in frame["bodies"]], f"{what}: particles of each body")
    for i, body in enumerate(frame["bodies"]):
        near(array(data, "radius")[array(data, "body") == i][0], body["radius"], f"{what}: radius")


def check_skin(run, frame):
    what = f"{run.folder.name}: skins in frame {frame['frame']}"
    data = read(run.folder / "vtk" / f"skin_{frame['frame']:05}.vtp")
    check_frame(data, frame, what)
    points = vtk_to_numpy(data.GetPoints().GetData())
    triangles = sum(body["triangles"] for body in frame["bodies"])
    equal(data.GetNumberOfPolys(), triangles, f"{what}: triangles")
    corners = vtk_to_numpy(data.GetPolys().GetConnectivityArray())
    equal((len(corners), int(corners.max()) + 1), (3 * triangles, len(points)), f"{what}: corners")
    for i, body in enumerate(frame["bodies"]):
        if body["kind"] == "mesh":
            own, number = array(data, "body") == i, body["shown"]["point"]
            check_points(points[own], body["shown"], f"{what}, {body['name']}")
            near(array(data, "velocity")[own][number], body["shown"]["velocity"], f"{what}: velocity")
            near(array(data, "temperature")[own][number], body["shown"]["temperature"], f"{what}: temperature")
    near((array(data, "Normals") ** 2).sum(axis=1).max(), 1.0, f"{what}: longest normal", 1e-4)


for run in runs():
    skinned = [frame for frame in run.frames if any(body["kind"] == "mesh" for body in frame["bodies"])]
    check_list(run, "particles", run.frames)
    check_list(run, "skin", skinned)
    for frame in run.looked_at:
        check_particles(run, frame)
        check_skin(run, frame)
    print(f"vtk: {run.folder.name} is as simulated ({len(run.frames)} frames)")
