//! `#[kernel]`: makes a kernel of an ordinary Rust function. Use it as `framewright_kernel::kernel`.

mod expand;
mod options;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a kernel of a function.
///
/// ```
/// use framewright::{Cpu, Image, Size};
/// use framewright_kernel::prelude::*;
///
/// #[kernel]
/// pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
///     255 - src.get(at)
/// }
///
/// let picture = Image::<Gray8>::new(Size::new(5, 3)?)?;
/// let mut negative = Image::<Gray8>::new(Size::new(5, 3)?)?;
/// Cpu::new().launch(invert(&picture, &mut negative))?;
/// assert_eq!(negative.planes().0.row(2), [255; 5]);
/// # Ok::<(), framewright::Error>(())
/// ```
///
/// gives a type `invert` (the kernel), a function `invert(src, dst)` that takes images and gives a `Call` for `Cpu::launch` and
/// `Scope::launch`, and the PTX entry `invert`. The prelude has all that is named here, with the formats, components and
/// samples of `framewright_core`, and `f16`.
///
/// The function is called once for every place. It reads, and returns what belongs there; it never stores, never asks which
/// thread it is, and needs no bounds check. Everything that it reads outside an image is defined, and what it returns for
/// outside is dropped.
///
/// # The place
///
/// The first parameter, `at`, is a `Pixel` or a `Block<W, H>` of `W` by `H` pixels. Written by value, it is a reference in the
/// body (`at: &Pixel`): pass it on as `at`, and give helpers `&Pixel` or `&Block<16, 2>`.
///
/// | method | gives |
/// |---|---|
/// | `at.x()`, `at.y()` | column and row of the pixel, or of the block's first; from the corner of the whole image, in a cropped launch too |
/// | `at.width()`, `at.height()` | columns and rows of the images, whole |
/// | `at.covers(i, j)` | of a block: whether its pixel in column `i` and row `j` belongs to the launch |
///
/// Blocks lie on multiples of `W` and `H`, and reach past the image where these do not divide its size (or past the part of a
/// cropped launch). A value returned for there is dropped, but what is added to a `Reduce` or counted in `Bins` is not: ask
/// `at.covers(i, j)` first. On the GPU a block reads and writes vectors, so `Block<16, 1>` is faster than `Pixel` for simple
/// kernels.
///
/// **Formats whose written planes are subsampled need blocks**, at least as large as what a chroma sample stands for:
/// `Block<2, 2>` for 4:2:0, `Block<2, 1>` for 4:2:2.
///
/// # The parameters
///
/// The others say what a launch passes:
///
/// | written | in the body | launched with |
/// |---|---|---|
/// | `src: In<F>` | a `&In<F>`: read samples anywhere | `&Image<F>`, a view, a crop |
/// | `dst: Out<F>` | nothing: what the function returns is stored | `&mut Image<F>`, a view, a crop |
/// | `img: InOut<F>` | a `&InOut<F>`: read the samples of the place; what the function returns replaces them | the same |
/// | `lut: Table<T, N>` | a `&Table<T, N>`: `lut.get(i)`, past the end the last | `&[T; N]` |
/// | `gain: Uniform<T>` | a `T` | a `T`: a number, an array, or a struct with `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]` |
/// | `sum: Reduce<T>` | a `&mut Reduce<T>`: `sum.add(Sum(value))` | `&mut T`, whose old value is **overwritten** |
/// | `bins: Bins<N>` | a `&mut Bins<N>`: `bins.count(i)`; no such bin, no count | `&mut [u64; N]`, overwritten too |
///
/// `T` of a `Reduce` says how two values combine: `Sum<u32>`, `Sum<u64>`, `Sum<f32>`, `Min<…>`, `Max<…>`, or a struct of your own
/// that implements `Combine`; a plain `u64` does not.
///
/// # Reading
///
/// Of an image with one plane (`Gray8`, `Bgr8`, `Rgb8`, …) these are methods of `In<F>`; of one with several, of what
/// `let (y, cbcr) = src.planes();` gives, one for each plane in the format's order. `S` is the plane's sample: `u8`, `[u8; 2]`
/// for `CbCr`, `[u8; 3]` for `Bgr`.
///
/// | method | gives | |
/// |---|---|---|
/// | `get(at)` | `S` | the sample of a `Pixel`; of a subsampled plane the one that it shares |
/// | `tile(at)` | `[[S; W]; H]` | those of a block, row by row: as many as it has in that plane, so `[[[u8; 2]; 8]; 1]` of the chroma of `Block<16, 2>` in NV12 |
/// | `packed(at)` | `Packed<WORDS, H>` | the same as little-endian `u32` words, for those who compute on words |
/// | `window(at, border)` | `[[S; W]; H]` | an odd number around a pixel, or a block's own and as many on each side |
/// | `read(x, y, border)` | `S` | any sample by `i32` column and row of that plane |
/// | `at(x, y)` | `S` | any sample by `u32` column and row; past the edges the nearest |
/// | `width()`, `height()` | `u32` | of that plane (from `planes()` or `plane()`) |
///
/// `border` is `Border::Replicate`, `Reflect101`, `Wrap` or `Constant(sample)`. An `InOut` has `get`, `tile`, `packed` and
/// `planes`, for its own place only: a neighbour may have been replaced already.
///
/// # What the function returns
///
/// Nothing where no image is written, the value for the one that is, or a tuple for several in the parameters' order.
///
/// | place | an image of one plane | of several planes |
/// |---|---|---|
/// | `Pixel` | its sample: `u8`, `[u8; 3]` | a tuple of samples |
/// | `Block<W, H>` | rows of samples `[[S; W]; H]`, or `Packed<WORDS, H>` | a tuple of those; subsampled planes have fewer columns and rows |
///
/// A frame of NV12 darkened in place, with its chroma half as far from grey, and the mean of what its luma was:
///
/// ```
/// use framewright::{Cpu, Image, Size};
/// use framewright_kernel::prelude::*;
///
/// #[kernel]
/// pub fn darken(at: Block<4, 2>, frame: InOut<Nv12>, sum: Reduce<Sum<u64>>) -> ([[u8; 4]; 2], [[[u8; 2]; 2]; 1]) {
///     let (y, cbcr) = frame.planes();
///     let (y, cbcr): ([[u8; 4]; 2], [[[u8; 2]; 2]; 1]) = (y.tile(at), cbcr.tile(at));
///     for (j, row) in y.iter().enumerate() {
///         for (i, &y) in row.iter().enumerate() {
///             if at.covers(i as u32, j as u32) {
///                 sum.add(Sum(y.into()));
///             }
///         }
///     }
///     (y.map(|row| row.map(|y| y / 2)), cbcr.map(|row| row.map(|pair| pair.map(|c| 64 + c / 2))))
/// }
///
/// let mut frame = Image::<Nv12>::new(Size::new(5, 3)?)?;
/// let (mut y, mut cbcr) = frame.planes_mut();
/// for j in 0..3 {
///     y.row_mut(j).fill(200);
/// }
/// for j in 0..2 {
///     cbcr.row_mut(j).fill([128, 30]);
/// }
/// let mut sum = Sum(0);
/// Cpu::new().launch(darken(&mut frame, &mut sum))?;
/// assert_eq!(sum, Sum(200 * 15));
/// let (y, cbcr) = frame.planes();
/// assert_eq!((y.row(2), cbcr.row(1)), (&[100; 5][..], &[[128, 79]; 3][..]));
/// # Ok::<(), framewright::Error>(())
/// ```
///
/// # Generic kernels
///
/// One function for several formats, types or sizes:
///
/// ```
/// use framewright::{Cpu, Image, Size};
/// use framewright_kernel::prelude::*;
///
/// /// Mirrors left and right.
/// #[kernel(instances(mirror_gray8 = <Gray8>, mirror_bgr8 = <Bgr8>))]
/// pub fn mirror<F: Format<Planes: OnePlane>>(at: Pixel, src: In<F>, dst: Out<F>) -> SampleOf<F> {
///     src.at(at.width() - 1 - at.x(), at.y())
/// }
///
/// /// The mean of an image and a constant, in every format of one plane with 8-bit channels.
/// #[kernel]
/// pub fn mix<F: Format<Planes: OnePlane>, const OTHER: u8>(at: Pixel, src: In<F>, dst: Out<F>) -> SampleOf<F>
/// where
///     SampleOf<F>: Sample<Scalar = u8>,
/// {
///     src.get(at).map_channels(|byte| byte / 2 + OTHER / 2)
/// }
///
/// let picture = Image::<Bgr8>::new(Size::new(5, 3)?)?;
/// let mut mirrored = Image::<Bgr8>::new(Size::new(5, 3)?)?;
/// Cpu::new().launch(mirror::<Bgr8, _, _>(&picture, &mut mirrored))?;
/// Cpu::new().launch(mix::<Bgr8, 100, _, _>(&picture, &mut mirrored))?;
/// assert_eq!(mirrored.planes().0.row(0)[4], [50; 3]);
/// # Ok::<(), framewright::Error>(())
/// ```
///
/// Their call names the types, and leaves an `_` for each parameter after the place, since images of several formats may have
/// the same planes: `mirror::<Bgr8, _, _>(&src, &mut dst)`. On the CPU every combination runs; on the GPU those that
/// `instances` lists, which the compiler checks. What the bounds allow the body may use: `Planes: OnePlane` for `get`, `tile`
/// and `SampleOf`, `Sample<Scalar = u8>` for 8-bit channels.
///
/// # When it does not compile
///
/// Wrong shapes are refused where the kernel is written, in words that name plane and numbers: a tile that is not as large as
/// the block in that plane, single pixels for subsampled planes, a block beyond 64 by 16 pixels, a `Uniform` that is no plain
/// data, a `Reduce` of something that does not combine. A combination of a generic kernel that `instances` does not list is
/// looked at when a launch names it, and so are the tiles that a body reads.
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `name = other` | the PTX entry's name; the function's where it is left out |
/// | `module = "text"` | the PTX module that the entry is in; the package's name where it is left out |
/// | `panics = false` | the body cannot panic, so the GPU need not remember which kernel runs. If it does, the report lacks the name |
/// | `instances(a = <Nv12, Bgr8>, b = <…>)` | for a generic function: the combinations that become PTX entries, by entry name |
/// | `crate = path` | where `framewright_kernel` is |
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    expand::kernel(attributes.into(), item.into()).into()
}
