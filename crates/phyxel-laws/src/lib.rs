//! phyxel-laws
