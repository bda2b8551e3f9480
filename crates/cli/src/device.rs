//! Where frames are converted. The one place that knows which devices there are: a GPU is another arm here.

use crate::error::Failure;
#[cfg(feature = "cuda")]
use framewright::cuda;
use framewright::{Conversion, Cpu, Error, Format, ImageMut, ImageRef, ResolvedColor, RgbFormat, YuvFormat};

/// `--device`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeviceChoice {
    /// A GPU where there is one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of this index.
    Cuda(u32),
}

/// What runs kernels on images in host memory.
#[derive(Debug)]
pub(crate) enum Device {
    /// All cores.
    Cpu(Cpu),
    /// A stream of a GPU.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Stream),
}

/// A device as `info` lists it.
#[derive(Debug)]
pub(crate) struct DeviceInfo {
    /// As `--device` takes it.
    pub(crate) name: String,
    /// What it is.
    pub(crate) description: String,
}

impl Device {
    /// The device of this choice.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn open(choice: DeviceChoice) -> Result<Self, Failure> {
        match choice {
            DeviceChoice::Cpu => Ok(Self::Cpu(Cpu::new())),
            // Whatever keeps a GPU from working, the CPU does.
            #[cfg(feature = "cuda")]
            DeviceChoice::Auto => Ok(Self::cuda(0).unwrap_or(Self::Cpu(Cpu::new()))),
            #[cfg(not(feature = "cuda"))]
            DeviceChoice::Auto => Ok(Self::Cpu(Cpu::new())),
            #[cfg(feature = "cuda")]
            DeviceChoice::Cuda(index) => {
                Self::cuda(index).map_err(|error| Failure::wrong(format!("--device cuda:{index}: {error}")))
            }
            #[cfg(not(feature = "cuda"))]
            DeviceChoice::Cuda(index) => Err(Failure::wrong(format!(
                "--device cuda:{index}: this build has no CUDA devices, expected auto or cpu"
            ))),
        }
    }

    #[cfg(feature = "cuda")]
    fn cuda(index: u32) -> Result<Self, Error> {
        Ok(Self::Cuda(cuda::Device::new(index)?.stream()?))
    }

    /// Converts YUV to RGB and says which colours it took.
    ///
    /// # Errors
    /// As [`Cpu::convert`].
    pub(crate) fn convert<S: YuvFormat, D: RgbFormat>(
        &self,
        source: &ImageRef<'_, S>,
        destination: &mut ImageMut<'_, D>,
        conversion: &Conversion,
    ) -> Result<ResolvedColor, Error> {
        match self {
            Self::Cpu(cpu) => cpu.convert(source, destination, conversion),
            #[cfg(feature = "cuda")]
            Self::Cuda(stream) => {
                stream.scope(|scope| {
                    let source = scope.upload(*source, scope.temporary::<S>(source.size())?)?;
                    let target = scope.temporary::<D>(destination.size())?;
                    let converted = scope.convert(&source, target, conversion)?;
                    scope.download(&converted, destination.reborrow())
                })?;
                Ok(conversion.resolve(source.color(), source.frame_size()))
            }
        }
    }

    /// Copies all planes.
    ///
    /// # Errors
    /// As [`Cpu::copy`].
    pub(crate) fn copy<F: Format>(
        &self,
        source: &ImageRef<'_, F>,
        destination: &mut ImageMut<'_, F>,
    ) -> Result<(), Error> {
        match self {
            Self::Cpu(cpu) => cpu.copy(source, destination),
            #[cfg(feature = "cuda")]
            Self::Cuda(stream) => stream.scope(|scope| {
                let source = scope.upload(*source, scope.temporary::<F>(source.size())?)?;
                let copied = scope.copy(&source, scope.temporary::<F>(destination.size())?)?;
                scope.download(&copied, destination.reborrow())
            }),
        }
    }
}

/// The devices of this machine that this build can use.
pub(crate) fn devices() -> Vec<DeviceInfo> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let description = format!("{threads} thread{} ({})", if threads == 1 { "" } else { "s" }, std::env::consts::ARCH);
    let devices = vec![DeviceInfo { name: "cpu".into(), description }];
    #[cfg(feature = "cuda")]
    let devices = devices.into_iter().chain(gpus()).collect();
    devices
}

/// The GPUs, as far as the driver tells of them.
#[cfg(feature = "cuda")]
fn gpus() -> impl Iterator<Item = DeviceInfo> {
    let describe = |ordinal: u32| {
        let info = cuda::Device::new(ordinal)?.info()?;
        let ((major, minor), gib) = (info.compute_capability, info.total_memory_bytes as f64 / (1u64 << 30) as f64);
        Ok::<_, Error>(format!("{}, compute capability {major}.{minor}, {gib:.1} GiB", info.name))
    };
    (0..cuda::Device::count().unwrap_or(0)).map(move |ordinal| DeviceInfo {
        name: format!("cuda:{ordinal}"),
        description: describe(ordinal).unwrap_or_else(|error| error.to_string()),
    })
}

/// The CUDA driver; `None` where this build has none.
pub(crate) fn driver() -> Option<String> {
    #[cfg(feature = "cuda")]
    return Some(cuda::status().to_string());
    #[cfg(not(feature = "cuda"))]
    None
}

#[cfg(all(test, not(feature = "cuda")))]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_refused_by_name_and_the_others_are_the_cpu() {
        let failure = Device::open(DeviceChoice::Cuda(1)).unwrap_err().to_string();
        assert_eq!(failure, "--device cuda:1: this build has no CUDA devices, expected auto or cpu");
        assert!(matches!(Device::open(DeviceChoice::Auto), Ok(Device::Cpu(_))));
        assert_eq!(devices()[0].name, "cpu");
    }
}
