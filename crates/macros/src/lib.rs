//! `#[kernel]`: makes a kernel of an ordinary Rust function. Use it as `framewright_kernel::kernel`.

mod expand;
mod options;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a kernel of a function.
///
/// ```text
/// #[kernel]
/// pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
///     255 - src.get(at)
/// }
/// ```
///
/// gives a type `invert` (the kernel), a function `invert(src, dst)` that takes images and gives a `Call` for
/// `Cpu::launch` and `Scope::launch`, and the PTX entry `invert`.
///
/// # The parameters
///
/// The first is the place: `Pixel`, or `Block<W, H>` for `W` by `H` pixels. The others say what a launch passes:
///
/// | written | in the body | launched with |
/// |---|---|---|
/// | `src: In<F>` | a `&In<F>`: read samples anywhere | `&Image<F>`, a view, a crop |
/// | `dst: Out<F>` | nothing: what the function returns is stored | `&mut Image<F>`, a view, a crop |
/// | `img: InOut<F>` | a `&InOut<F>`: read the samples of the place; what the function returns replaces them | the same |
/// | `lut: Table<T, N>` | a `&Table<T, N>`: `lut.get(i)` | `&[T; N]` |
/// | `gain: Uniform<T>` | a `T` | a `T` (any `bytemuck::Pod`) |
/// | `sum: Reduce<T>` | a `&mut Reduce<T>`: `sum.add(value)` | `&mut T` |
/// | `bins: Bins<N>` | a `&mut Bins<N>`: `bins.count(i)` | `&mut [u64; N]` |
///
/// # What the function returns
///
/// Nothing where no image is written, the value for the one that is, or a tuple for several in the parameters' order. On
/// `Pixel` a value is a sample (`u8`, `[u8; 3]`; of an image with several planes a tuple of them). On `Block<W, H>` it is rows
/// of samples `[[S; W]; H]` or `Packed<WORDS, H>` (of several planes a tuple of them, in which subsampled planes have fewer
/// columns and rows).
///
/// # Generic kernels
///
/// Their call names the types, and leaves an `_` for each parameter after the place, since images of several formats may have
/// the same planes: `flip::<Gray8, _, _>(&src, &mut dst)`. On the CPU every combination runs; on the GPU those that
/// `instances` lists, which the compiler checks.
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
