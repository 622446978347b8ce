mod penetration;
mod surface_grid;
