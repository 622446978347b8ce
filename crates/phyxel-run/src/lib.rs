//! phyxel-run
