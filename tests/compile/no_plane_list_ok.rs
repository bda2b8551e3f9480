// A format whose planes are no tuple.
// CHECK: check
use framewright::*;

pub type One = Spec<Y, u8>;
pub type Tuple = (Spec<Y, u8>,);

pub enum Plain {}
impl Format for Plain {
    const NAME: &'static str = "plain";
    type Planes = Tuple;
}
