//! Loads of every kind of sample and of blocks that no vector fits: what a tile and a window hold is what single samples are.

use framewright::{Cpu, Error, Image};
use framewright_kernel::{
    bytemuck::{self, Zeroable},
    prelude::*,
};

/// Formats of one plane with these samples.
macro_rules! formats {
    ($($name:ident: $component:ident, $sample:ty;)+) => {$(
        enum $name {}
        impl Format for $name {
            const NAME: &'static str = stringify!($name);
            type Planes = (Spec<$component, $sample>,);
        }
    )+};
}
formats! {
    Rgb16: Rgb, [u16; 3];
    RgbF16: Rgb, [f16; 3];
    RgbF32: Rgb, [f32; 3];
    Gray16: Y, u16;
}

/// Copies by tiles.
#[kernel]
fn tiles<F: Format<Planes: OnePlane>, const W: u32, const H: u32, const COLUMNS: usize, const ROWS: usize>(
    at: Block<W, H>,
    src: In<F>,
    dst: Out<F>,
) -> [[SampleOf<F>; COLUMNS]; ROWS] {
    src.tile::<COLUMNS, ROWS>(at)
}

/// Copies the middles of windows.
#[kernel]
fn middles<F: Format<Planes: OnePlane>>(at: Block<4, 2>, src: In<F>, dst: Out<F>) -> [[SampleOf<F>; 4]; 2] {
    let window = src.window::<8, 4>(at, Border::Replicate);
    core::array::from_fn(|j| core::array::from_fn(|i| window[j + 1][i + 2]))
}

/// Copies single samples.
#[kernel]
fn singles<F: Format<Planes: OnePlane>>(at: Pixel, src: In<F>, dst: Out<F>) -> SampleOf<F> {
    src.get(at)
}

/// How many samples differ.
#[kernel]
fn differences<F: Format<Planes: OnePlane>>(at: Pixel, a: In<F>, b: In<F>, count: Reduce<Sum<u32>>) {
    count.add(Sum(u32::from(a.get(at) != b.get(at))));
}

/// Bytes that differ from sample to sample; of a float they are numbers.
#[kernel]
fn noise<F: Format<Planes: OnePlane>>(at: Pixel, dst: Out<F>) -> SampleOf<F> {
    let mut sample: SampleOf<F> = Zeroable::zeroed();
    let seed = at.x() * 7 + at.y() * 131;
    for (i, byte) in bytemuck::bytes_of_mut(&mut sample).iter_mut().enumerate() {
        *byte = (seed + 29 * i as u32) as u8 & 0x3f | 1;
    }
    sample
}

/// A function a format, since a generic one would have to bound all that the kernels bound.
macro_rules! check {
    ($($format:ident),+) => {$({
fn check() -> Result<(), Error> {
    type F = $format;
    let cpu = Cpu::single_threaded();
    for (width, height) in (1..=40).flat_map(|width| [1, 2, 5].map(|height| (width, height))) {
        let size = Size::new(width, height)?;
        let mut source = Image::<F>::new(size)?;
        cpu.launch(noise::<F, _>(&mut source))?;
        let same = |what: &str, found: &Image<F>| {
            let mut differing = Sum(1);
            cpu.launch(differences::<F, _, _, _>(&source, found, &mut differing))?;
            assert_eq!(differing, Sum(0), "{} {what} at {width}x{height}", F::NAME);
            Ok::<_, Error>(())
        };
        let mut found = Image::<F>::new(size)?;
        cpu.launch(singles::<F, _, _>(&source, &mut found))?;
        same("singles", &found)?;
        let mut found = Image::<F>::new(size)?;
        cpu.launch(tiles::<F, 8, 2, 8, 2, _, _>(&source, &mut found))?;
        same("tiles of 8 by 2", &found)?;
        let mut found = Image::<F>::new(size)?;
        cpu.launch(tiles::<F, 5, 1, 5, 1, _, _>(&source, &mut found))?;
        same("tiles of 5 by 1", &found)?;
        let mut found = Image::<F>::new(size)?;
        cpu.launch(middles::<F, _, _>(&source, &mut found))?;
        same("windows", &found)?;
    }
    Ok(())
}
check()?;
})+};
}

#[test]
fn tiles_and_windows_hold_the_samples() -> Result<(), Error> {
    check!(Rgb16, RgbF16, RgbF32, Gray16, Bgr8);
    Ok(())
}
