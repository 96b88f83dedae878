//! Control laws of active queue management: plain structs without a queue, so that each is tested
//! alone and shared by every discipline that uses it.

pub mod codel;
pub mod pi2;
pub mod pie;
pub mod red;
