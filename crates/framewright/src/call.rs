//! What kernels are launched with: checked once, and the same for every executor.

use crate::{
    error::Error,
    image::Image,
    location::Location,
    overlap::Extent,
    parts::Parts,
    shared::SharedImage,
    view::{ImageMut, ImageRef},
};
use bytemuck::Pod;
use framewright_core::{Axis, Format, Offset, PlaneList, Rect, RegionError, SamePlanes, Size};
use framewright_kernel::{
    Arg, Bins, Combine, Domain, In, InOut, Kernel, Out, ParamKind, PlaneIn, PlaneOut, Planes, Reduce, Table, Uniform,
    list::{KindList, Last, Pair},
};

// Here and not with the executors: what an argument is does not depend on where it runs.
macro_rules! arguments {
    ($($kind:ident: $($argument:ty),+;)+) => {$($(
        #[diagnostic::do_not_recommend] // The message is about the argument, not about its planes.
        impl<F: Format, G: Format, L: Location> Arg<$kind<F>> for $argument where G::Planes: SamePlanes<F::Planes> {}
    )+)+};
}
arguments! {
    In: &Image<G, L>, &SharedImage<G, L>, ImageRef<'_, G, L>, &ImageRef<'_, G, L>;
    Out: &mut Image<G, L>, ImageMut<'_, G, L>, &mut ImageMut<'_, G, L>;
    InOut: &mut Image<G, L>, ImageMut<'_, G, L>, &mut ImageMut<'_, G, L>;
}

/// How a launch uses an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    Read,
    Written,
    Changed,
}

/// The images of a call, and what it covers of them. No allocation: a kernel has at most eight parameters.
pub struct Plan {
    kernel: &'static str,
    parameters: &'static [&'static str],
    crop: Option<Rect>,
    parameter: usize,
    images: [Option<(Use, usize, Size)>; 8],
    planes: [Option<(Use, &'static str, Extent)>; 32],
    used: usize,
    /// The coarsest subsampling of what is written: parts begin on its multiples.
    step: (u32, u32),
}

impl Plan {
    /// A plan for a call of `K` with these arguments; `describe` adds them in order.
    pub(crate) fn new<K: Kernel>(crop: Option<Rect>) -> Self {
        Self {
            kernel: K::NAME,
            parameters: K::PARAMETERS,
            crop,
            parameter: 0,
            images: [None; 8],
            planes: [None; 32],
            used: 0,
            step: (1, 1),
        }
    }

    /// Goes on to the next parameter.
    pub(crate) fn next(&mut self) {
        self.parameter += 1;
    }

    /// Adds the image of this parameter.
    pub(crate) fn image<F: Format, L: Location>(&mut self, parts: &Parts<F, L>, used: Use) {
        self.images[self.parameter] = Some((used, self.parameter, parts.size));
        for (i, info) in F::Planes::INFOS.iter().enumerate() {
            self.planes[self.used] = Some((used, info.name, parts.extent(i)));
            self.used += 1;
        }
        if used != Use::Read {
            let step = F::Planes::STEP;
            self.step = (self.step.0.max(step.x), self.step.1.max(step.y));
        }
    }

    /// Checks what can be before anything runs: sizes, the part, and that nothing written is read or written twice.
    pub(crate) fn check(&self) -> Result<Domain, Error> {
        let images = || self.images.iter().flatten();
        // What the launch's images are: those that a part leaves whole, else those that it writes.
        let whole = images().find(|(used, ..)| self.crop.is_none() || *used != Use::Written).map(|image| image.2);
        let size = match (whole, self.crop) {
            (Some(size), _) => size,
            (None, Some(rect)) => far_corner(rect)?,
            // `#[kernel]` refuses a kernel without images: there is nothing to run over.
            (None, None) => Size::new(0, 0)?,
        };
        let part = self.crop.unwrap_or(Rect::whole(size));
        if !part.is_inside(size) {
            return Err(RegionError::Outside { rect: part, size }.into());
        }
        for (axis, offset_px, step_px) in [(Axis::X, part.offset.x, self.step.0), (Axis::Y, part.offset.y, self.step.1)]
        {
            if !offset_px.is_multiple_of(step_px) {
                return Err(RegionError::OffGrid { axis, offset_px, step_px }.into());
            }
        }
        for &(used, parameter, found) in images() {
            let expected = if used == Use::Written { part.size } else { size };
            if expected != found {
                let parameter = self.parameters[parameter];
                return Err(Error::ArgumentSize { kernel: self.kernel, parameter, expected, found });
            }
        }
        let planes = &self.planes[..self.used];
        for (j, (used, destination, to)) in planes.iter().flatten().enumerate() {
            if *used == Use::Read {
                continue;
            }
            for (i, (other, source, from)) in planes.iter().flatten().enumerate() {
                // Of two that are written, the later one is named as the destination.
                if i != j && (*other == Use::Read || i < j) && from.overlaps(to) {
                    return Err(Error::Overlap { source, destination });
                }
            }
        }
        let Offset { x, y } = part.offset;
        let (x1, y1) = (x + part.size.width(), y + part.size.height());
        Ok(Domain { x0: x, y0: y, x1, y1, width: size.width(), height: size.height() })
    }
}

/// The size of an image that ends where `rect` does.
fn far_corner(rect: Rect) -> Result<Size, Error> {
    let end = |offset: u32, side: u32| offset.saturating_add(side);
    Ok(Size::new(end(rect.offset.x, rect.size.width()), end(rect.offset.y, rect.size.height()))?)
}

/// The kernel's view of planes that are read.
///
/// # Safety
/// They stay readable and unwritten while the kernel runs.
pub(crate) unsafe fn planes_in<F: Format, G: Format, L: Location>(parts: &Parts<G, L>) -> Planes<F, PlaneIn>
where
    G::Planes: SamePlanes<F::Planes>,
{
    Planes::new(|i| {
        let (info, raw) = (&F::Planes::INFOS[i], parts.raw(i));
        let rows = info.plane_size(parts.size).height();
        // SAFETY: as promised by the caller; both counts are at least one sample, since sizes are.
        unsafe { PlaneIn::new(raw.first_row, raw.pitch_bytes, info.row_bytes(parts.size), rows) }
    })
}

/// The kernel's view of planes that are written, whose first pixel is the domain's.
pub(crate) fn planes_out<F: Format, G: Format, L: Location>(parts: &Parts<G, L>, domain: &Domain) -> Planes<F, PlaneOut>
where
    G::Planes: SamePlanes<F::Planes>,
{
    Planes::new(|i| {
        let (info, raw) = (&F::Planes::INFOS[i], parts.raw(i));
        let left = (domain.x0 / info.step.x * info.element_bytes()) as usize;
        let above = raw.pitch_bytes.wrapping_mul(i64::from(domain.y0 / info.step.y)) as isize;
        PlaneOut {
            base: raw.first_row.wrapping_sub(left).wrapping_offset(above.wrapping_neg()),
            pitch_bytes: raw.pitch_bytes,
        }
    })
}

/// An argument as executors see it, for parameter `P`: a view, a value or a reference.
pub trait Bound<P: ParamKind> {
    /// Adds its image to the plan, if it is one.
    fn describe(&self, _plan: &mut Plan) {}
}
impl<F: Format, G: Format, L: Location> Bound<In<F>> for ImageRef<'_, G, L> {
    fn describe(&self, plan: &mut Plan) {
        plan.image(&self.parts, Use::Read);
    }
}
impl<F: Format, G: Format, L: Location> Bound<Out<F>> for ImageMut<'_, G, L> {
    fn describe(&self, plan: &mut Plan) {
        plan.image(&self.parts, Use::Written);
    }
}
impl<F: Format, G: Format, L: Location> Bound<InOut<F>> for ImageMut<'_, G, L> {
    fn describe(&self, plan: &mut Plan) {
        plan.image(&self.parts, Use::Changed);
    }
}
impl<T: Pod + Send + Sync> Bound<Uniform<T>> for T {}
impl<T: Pod + Send + Sync, const N: usize> Bound<Table<T, N>> for &[T; N] {}
impl<T: Combine> Bound<Reduce<T>> for &mut T {}
impl<const N: usize> Bound<Bins<N>> for &mut [u64; N] {}

/// [`Bound`] for lists.
pub trait BoundList<P: KindList> {
    /// Adds all images to the plan.
    fn describe_all(&self, plan: &mut Plan);
}
impl<P: ParamKind, Q: KindList, A: Bound<P>, B: BoundList<Q>> BoundList<Pair<P, Q>> for Pair<A, B> {
    fn describe_all(&self, plan: &mut Plan) {
        self.0.describe(plan);
        plan.next();
        self.1.describe_all(plan);
    }
}
impl<P: ParamKind, A: Bound<P>> BoundList<Last<P>> for Last<A> {
    fn describe_all(&self, plan: &mut Plan) {
        self.0.describe(plan);
    }
}
