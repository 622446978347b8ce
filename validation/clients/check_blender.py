"""Imports the USD scenes and the glTF files into Blender and counts vertices, frames and materials."""

import contextlib
import os

import bpy
import numpy

from expected import check_points, equal, near, plain, runs


@contextlib.contextmanager
def quiet():
    """Keeps what Blender says from the terminal."""
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def points_of(thing):
    """Points of an object as it is at the present frame, y up as in the files."""
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = shown.data.points if thing.type == "POINTCLOUD" else shown.data.vertices
    matrix = numpy.array(shown.matrix_world)
    found = [matrix[:3, :3] @ numpy.array(place.co) + matrix[:3, 3] for place in places]
    return [(x, z, -y) for x, y, z in found]


def check_usd(run):
    with quiet():
        clear()
        bpy.ops.wm.usd_import(filepath=str(run.folder / "usd" / "scene.usdc"))
    scene = bpy.context.scene
    equal((scene.frame_start, scene.frame_end), (0, len(run.frames) - 1), f"{run.folder.name}: frames")
    for frame in run.looked_at:
        scene.frame_set(frame["frame"])
        for body in run.bodies():
            facts = next((other for other in frame["bodies"] if other["name"] == body["name"]), None)
            what = f"{run.folder.name} in frame {frame['frame']}, {body['name']}"
            thing = bpy.data.objects[f"{plain(body['name'])}_{'skin' if body['kind'] == 'mesh' else 'particles'}"]
            found = points_of(thing)
            if facts is None:
                equal(len(found), 0, what)
                continue
            check_points(found, facts["shown"], what, 1e-5)
            if body["kind"] == "mesh":
                equal([m.name for m in thing.data.materials], [plain(body["material"])], f"{what}: materials")


def check_frame_file(run, frame):
    what = f"{run.folder.name}: frame_{frame['frame']:05}.glb"
    with quiet():
        clear()
        bpy.ops.import_scene.gltf(filepath=str(run.folder / "glb" / f"frame_{frame['frame']:05}.glb"))
    for body in frame["bodies"]:
        thing = bpy.data.objects[body["name"]]
        check_points(points_of(thing), body["shown"], f"{what}, {body['name']}", 1e-5)
        warm = thing.data.attributes["_TEMPERATURE"].data[body["shown"]["point"]].value
        near(warm, body["shown"]["temperature"], f"{what}, {body['name']}: temperature")
        equal(len(thing.data.polygons), body["triangles"], f"{what}, {body['name']}: triangles")
        equal([m.name for m in thing.data.materials], [body["material"]], f"{what}, {body['name']}: materials")


def check_moving_file(run):
    path = run.folder / "glb" / "scene.glb"
    if not path.is_file():
        return
    with quiet():
        clear()
        bpy.context.scene.render.fps = int(run.frame_rate)
        bpy.ops.import_scene.gltf(filepath=str(path))
    for frame in run.looked_at:
        bpy.context.scene.frame_set(frame["frame"])
        for body in frame["bodies"]:
            thing, what = bpy.data.objects[body["name"]], f"{path} in frame {frame['frame']}, {body['name']}"
            equal(len(thing.data.shape_keys.key_blocks), len(run.frames), f"{what}: shapes")
            check_points(points_of(thing), body["shown"], what, 1e-4)


for run in runs():
    check_usd(run)
    for frame in run.looked_at:
        check_frame_file(run, frame)
    check_moving_file(run)
    print(f"blender: {run.folder.name} is as simulated", flush=True)
