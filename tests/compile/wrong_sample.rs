// A format with a sample type that no plane has.
// CHECK: check
// ERROR: E0277 (Spec<Y, i64>,)
use framewright::*;

pub enum Wrong {}
impl Format for Wrong {
    const NAME: &'static str = "wrong";
    type Planes = (Spec<Y, i64>,);
}
