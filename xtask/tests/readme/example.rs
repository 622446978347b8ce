use phyxel_scene::{BuildOptions, Scene};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene::load("falling-jelly", &[])?;
    let mut world = scene.build(&BuildOptions::default())?.world;
    for _ in 0..scene.frames().min(10) {
        world.advance_frame()?;
    }
    let frame = world.frame();
    println!("{:.2} s: {} is at {:?}", frame.time, frame.bodies[0].report.name, frame.bodies[0].report.centre);
    Ok(())
}
