//! Copies between host and device: 2-D where pitches allow, else row by row.

use super::{error::Asked, memory::Cuda, stream::StreamInner};
use crate::{error::Error, location::Location, parts::Parts, plane::RawPlane};
use framewright_core::{Format, PlaneList, SamePlanes};
use framewright_driver::sys::{self, Code, MEMORY_TYPE_DEVICE, MEMORY_TYPE_HOST, Memcpy2d};

/// The largest pitch that the driver's 2-D copies take on every device.
const MAX_PITCH_BYTES: i64 = i32::MAX as i64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up,
    Down,
}

impl StreamInner {
    /// Queues the copy of all planes from the host to the device.
    ///
    /// # Safety
    /// Until the work is done: the source is readable and unwritten, the destination is memory of this stream's context that
    /// nobody else uses.
    pub(crate) unsafe fn upload<S: Format, D: Format, H: Location>(
        &self,
        source: &Parts<S, H>,
        destination: &Parts<D, Cuda>,
    ) -> Result<(), Error>
    where
        D::Planes: SamePlanes<S::Planes>,
    {
        check_size(source, destination)?;
        // SAFETY: as promised by the caller.
        unsafe { self.transfer::<S>(source, |i| destination.raw(i), Direction::Up) }
    }

    /// Queues the copy of all planes from the device to the host.
    ///
    /// # Safety
    /// As [`StreamInner::upload`], the other way.
    pub(crate) unsafe fn download<S: Format, D: Format, H: Location>(
        &self,
        source: &Parts<S, Cuda>,
        destination: &Parts<D, H>,
    ) -> Result<(), Error>
    where
        D::Planes: SamePlanes<S::Planes>,
    {
        check_size(source, destination)?;
        // SAFETY: as promised by the caller.
        unsafe { self.transfer::<S>(source, |i| destination.raw(i), Direction::Down) }
    }

    unsafe fn transfer<S: Format>(
        &self,
        source: &Parts<S, impl Location>,
        destination: impl Fn(usize) -> RawPlane,
        direction: Direction,
    ) -> Result<(), Error> {
        let device = &self.device.inner;
        let _current = device.enter()?;
        for (i, info) in S::Planes::INFOS.iter().enumerate() {
            let (from, to) = (source.raw(i), destination(i));
            let width = info.row_bytes(source.size) as usize;
            let rows = info.plane_size(source.size).height() as usize;
            let fits = |pitch: i64| (0..=MAX_PITCH_BYTES).contains(&pitch);
            let asked = Asked::Bytes(width as u64 * rows as u64);
            if fits(from.pitch_bytes) && fits(to.pitch_bytes) {
                // SAFETY: as promised by the caller.
                let code = unsafe { self.copy_2d(from, to, width, rows, direction) };
                device.check(code, "cuMemcpy2DAsync", asked)?;
                continue;
            }
            for row in 0..rows as i64 {
                let at = |plane: RawPlane| RawPlane {
                    first_row: plane.first_row.wrapping_offset((plane.pitch_bytes * row) as isize),
                    pitch_bytes: width as i64,
                };
                // SAFETY: as promised by the caller, for this row.
                let code = unsafe { self.copy_2d(at(from), at(to), width, 1, direction) };
                device.check(code, "cuMemcpy2DAsync", asked)?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// Both planes have `rows` rows of `width` bytes, on host and device as `direction` says.
    unsafe fn copy_2d(&self, from: RawPlane, to: RawPlane, width: usize, rows: usize, direction: Direction) -> Code {
        let (host, device) = if direction == Direction::Up { (from, to) } else { (to, from) };
        let (src, dst) = match direction {
            Direction::Up => (MEMORY_TYPE_HOST, MEMORY_TYPE_DEVICE),
            Direction::Down => (MEMORY_TYPE_DEVICE, MEMORY_TYPE_HOST),
        };
        let copy = Memcpy2d {
            src_x_in_bytes: 0,
            src_y: 0,
            src_memory_type: src,
            src_host: host.first_row.cast(),
            src_device: device.first_row as u64,
            src_array: std::ptr::null_mut(),
            src_pitch: from.pitch_bytes as usize,
            dst_x_in_bytes: 0,
            dst_y: 0,
            dst_memory_type: dst,
            dst_host: host.first_row.cast(),
            dst_device: device.first_row as u64,
            dst_array: std::ptr::null_mut(),
            dst_pitch: to.pitch_bytes as usize,
            width_in_bytes: width,
            height: rows,
        };
        // SAFETY: the rows are the caller's promise; the context is current.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, self.raw()) }
    }
}

fn check_size<S: Format, D: Format>(
    source: &Parts<S, impl Location>,
    destination: &Parts<D, impl Location>,
) -> Result<(), Error> {
    if source.size == destination.size {
        return Ok(());
    }
    Err(Error::DestinationSize { expected: source.size, found: destination.size })
}
