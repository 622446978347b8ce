"""Opens the USD scenes with OpenUSD and compares times, prims, values and materials with what was simulated."""

from pxr import Usd, UsdGeom, UsdShade

from expected import check_points, equal, linear, near, plain, runs


def check(run):
    stage = Usd.Stage.Open(str(run.folder / "usd" / "scene.usdc"))
    check_stage(run, stage)
    for body in run.bodies():
        check_body(run, stage, body)
    check_obstacles(run, stage)


def check_stage(run, stage):
    equal(UsdGeom.GetStageUpAxis(stage), "Y", "up axis")
    equal(UsdGeom.GetStageMetersPerUnit(stage), 1.0, "metres per unit")
    equal(stage.GetTimeCodesPerSecond(), run.frame_rate, "frames per second")
    equal((stage.GetStartTimeCode(), stage.GetEndTimeCode()), (0, len(run.frames) - 1), "first and last frame")
    equal(str(stage.GetDefaultPrim().GetPath()), "/World", "default prim")
    equal(stage.GetRootLayer().documentation, run.title, "title")


def check_body(run, stage, body):
    is_mesh = body["kind"] == "mesh"
    name = plain(body["name"])
    path = f"/World/{name}/{name}_{'skin' if is_mesh else 'particles'}"
    prim = stage.GetPrimAtPath(path)
    assert prim.IsA(UsdGeom.Mesh if is_mesh else UsdGeom.Points), f"{path} is {prim.GetTypeName()}"
    shape = (UsdGeom.Mesh if is_mesh else UsdGeom.Points)(prim)
    for frame in run.looked_at:
        facts = next((other for other in frame["bodies"] if other["name"] == body["name"]), None)
        hidden = shape.ComputeVisibility(frame["frame"]) == "invisible"
        equal(hidden, facts is None, f"{path} hidden in frame {frame['frame']}")
        if facts:
            check_values(shape, is_mesh, facts, frame["frame"], path)
    samples = {int(at): len(shape.GetPointsAttr().Get(at)) for at in shape.GetPointsAttr().GetTimeSamples()}
    there = [f["frame"] for f in run.frames if any(b["name"] == body["name"] for b in f["bodies"])]
    equal([at for at, count in samples.items() if count], there, f"{path}: frames with points")
    if is_mesh:
        fixed = shape.GetFaceVertexIndicesAttr().GetNumTimeSamples() == 0
        equal(fixed, run.keeps_triangles(body["name"]), f"{path}: triangles are written once")
        equal(shape.GetSubdivisionSchemeAttr().Get(), "none", f"{path}: subdivision")
    check_material(prim, body)


def check_values(shape, is_mesh, facts, at, path):
    what = f"{path} in frame {at}"
    points = shape.GetPointsAttr().Get(at)
    check_points(points, facts["shown"], what)
    number = facts["shown"]["point"]
    near(shape.GetVelocitiesAttr().Get(at)[number], facts["shown"]["velocity"], f"{what}: velocity")
    primvars = UsdGeom.PrimvarsAPI(shape)
    temperature = primvars.GetPrimvar("temperature")
    equal(temperature.GetInterpolation(), "vertex", f"{what}: temperature per point")
    near(temperature.Get(at)[number], facts["shown"]["temperature"], f"{what}: temperature")
    near(primvars.GetPrimvar("displayColor").Get(at)[0], linear(facts["color"]), f"{what}: colour", 1e-5)
    radius = 0.0 if is_mesh else facts["radius"]
    extent = shape.GetExtentAttr().Get(at)
    near(extent[0], [v - radius for v in facts["shown"]["low"]], f"{what}: extent")
    near(extent[1], [v + radius for v in facts["shown"]["high"]], f"{what}: extent")
    if is_mesh:
        counts = shape.GetFaceVertexCountsAttr().Get(at)
        equal((len(counts), set(counts)), (facts["triangles"], {3}), f"{what}: triangles")
        valid, reason = UsdGeom.Mesh.ValidateTopology(shape.GetFaceVertexIndicesAttr().Get(at), counts, len(points))
        assert valid, f"{what}: {reason}"
        equal(shape.GetNormalsInterpolation(), "vertex", f"{what}: normals per point")
        equal(len(shape.GetNormalsAttr().Get(at)), len(points), f"{what}: normals")
    else:
        near(shape.GetWidthsAttr().Get(at)[number], 2 * facts["radius"], f"{what}: width")


def check_material(prim, body):
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    equal(material.GetPrim().GetName(), plain(body["material"]), f"{prim.GetPath()}: material")
    shader, _, _ = material.ComputeSurfaceSource()
    equal(shader.GetShaderId(), "UsdPreviewSurface", f"{prim.GetPath()}: shader")
    near(shader.GetInput("diffuseColor").Get(), linear(body["color"]), f"{prim.GetPath()}: colour", 1e-5)
    near(shader.GetInput("roughness").Get(), body["roughness"], f"{prim.GetPath()}: roughness")
    near(shader.GetInput("metallic").Get(), body["metalness"], f"{prim.GetPath()}: metalness")


def check_obstacles(run, stage):
    names = {plain(obstacle["name"]) for obstacle in run.frames[0]["obstacles"]}
    equal({prim.GetName() for prim in stage.GetPrimAtPath("/World/Obstacles").GetChildren()}, names, "obstacles")
    for frame in run.looked_at:
        for obstacle in frame["obstacles"]:
            prim = stage.GetPrimAtPath(f"/World/Obstacles/{plain(obstacle['name'])}")
            matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(frame["frame"])
            near(matrix.ExtractTranslation(), obstacle["at"], f"{obstacle['name']} in frame {frame['frame']}")


for run in runs():
    check(run)
    print(f"usd: {run.folder.name} is as simulated ({len(run.frames)} frames, {len(run.bodies())} bodies)")
