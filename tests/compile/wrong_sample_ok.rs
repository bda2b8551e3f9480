// A format with a sample type that no plane has.
// CHECK: check
use framewright::*;

pub enum Wrong {}
impl Format for Wrong {
    const NAME: &'static str = "wrong";
    type Planes = (Spec<Y, u16>,);
}
