"""Reads the glTF files with VTK's reader and compares them with what was simulated, the moving ones at several times."""

import json
import struct

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLogger
from vtkmodules.vtkIOGeometry import vtkGLTFReader

from expected import check_points, equal, linear, near, runs


def reader_of(path):
    reader = vtkGLTFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    return reader


def meshes(reader):
    """The things of a file, in order."""
    found, walk = [], reader.GetOutput().NewIterator()
    while not walk.IsDoneWithTraversal():
        found.append(walk.GetCurrentDataObject())
        walk.GoToNextItem()
    return found


def check_frame(run, frame):
    what = f"{run.folder.name}: frame {frame['frame']}"
    path = run.folder / "glb" / f"frame_{frame['frame']:05}.glb"
    reader = reader_of(path)
    reader.Update()
    found = meshes(reader)
    equal(len(found), len(frame["bodies"]), f"{what}: bodies")
    for mesh, body in zip(found, frame["bodies"]):
        check_points(vtk_to_numpy(mesh.GetPoints().GetData()), body["shown"], f"{what}, {body['name']}")
        equal(mesh.GetNumberOfPolys(), body["triangles"], f"{what}, {body['name']}: triangles")
    check_further(path, frame, what)


def check_further(path, frame, what):
    """What VTK passes over: names, materials and values of our own."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document, numbers = json.loads(data[20 : 20 + length]), data[28 + length :]
    near(document["scenes"][0]["extras"]["time"], frame["time"], f"{what}: time")
    for node, body in zip(document["nodes"], frame["bodies"]):
        equal(node["name"], body["name"], f"{what}: name")
        primitive, shown = document["meshes"][node["mesh"]]["primitives"][0], body["shown"]
        wanted = {f"_VELOCITY_{axis}": part for axis, part in zip("XYZ", shown["velocity"])}
        for name, part in {**wanted, "_TEMPERATURE": shown["temperature"]}.items():
            accessor = document["accessors"][primitive["attributes"][name]]
            view = document["bufferViews"][accessor["bufferView"]]
            place = view["byteOffset"] + accessor.get("byteOffset", 0) + view.get("byteStride", 4) * shown["point"]
            near(struct.unpack_from("<f", numbers, place)[0], part, f"{what}, {body['name']}: {name}")
        material = document["materials"][primitive["material"]]
        equal(material["name"], body["material"], f"{what}, {body['name']}: material")
        surface = material["pbrMetallicRoughness"]
        near(surface["baseColorFactor"][:3], linear(body["color"]), f"{what}, {body['name']}: colour", 1e-5)
        near(surface["metallicFactor"], body["metalness"], f"{what}, {body['name']}: metalness")


def check_moving(run):
    path = run.folder / "glb" / "scene.glb"
    can_move = all(run.keeps_triangles(body["name"]) for body in run.bodies()) and all(
        len(frame["bodies"]) == len(run.frames[0]["bodies"]) for frame in run.frames
    )
    equal(path.is_file(), can_move, f"{path} is there")
    if not can_move:
        return
    reader = reader_of(path)
    equal(reader.GetNumberOfAnimations(), 1, f"{path}: animations")
    near(reader.GetAnimationDuration(0), run.frames[-1]["time"], f"{path}: duration")
    reader.EnableAnimation(0)
    reader.ApplyDeformationsToGeometryOn()
    # VTK moves to the nearest of its own times.
    reader.SetFrameRate(int(run.frame_rate))
    for frame in run.looked_at:
        reader.UpdateInformation()
        reader.UpdateTimeStep(frame["time"])
        for mesh, body in zip(meshes(reader), frame["bodies"]):
            points = vtk_to_numpy(mesh.GetPoints().GetData())
            check_points(points, body["shown"], f"{path} at {frame['time']} s, {body['name']}", 1e-5)


vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
for run in runs():
    for frame in run.looked_at:
        check_frame(run, frame)
    check_moving(run)
    print(f"glb: {run.folder.name} is as simulated")
