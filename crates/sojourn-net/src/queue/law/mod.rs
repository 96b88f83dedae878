//! Control laws of active queue management: plain structs that know nothing of queues, so that
//! each is tested alone and shared by every discipline that uses it.

pub mod codel;
pub mod pi2;
pub mod pie;
pub mod red;
