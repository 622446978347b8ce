//! phyxel-scene
