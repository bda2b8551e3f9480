//! Where frames are converted. The one place that knows which devices there are: a GPU is another arm here.

use crate::error::Failure;
use framewright::{
    Conversion, Cpu, Error, Format, ImageMut, ImageRef, ResolvedColor, RgbFormat, SamePlanes, YuvFormat,
};

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
            DeviceChoice::Auto | DeviceChoice::Cpu => Ok(Self::Cpu(Cpu::new())),
            DeviceChoice::Cuda(index) => Err(Failure::wrong(format!(
                "--device cuda:{index}: this build has no CUDA devices, expected auto or cpu"
            ))),
        }
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
    ) -> Result<(), Error>
    where
        F::Planes: SamePlanes<F::Planes>,
    {
        match self {
            Self::Cpu(cpu) => cpu.copy(source, destination),
        }
    }
}

/// The devices of this machine that this build can use.
pub(crate) fn devices() -> Vec<DeviceInfo> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let description = format!("{threads} thread{} ({})", if threads == 1 { "" } else { "s" }, std::env::consts::ARCH);
    vec![DeviceInfo { name: "cpu".into(), description }]
}

/// The CUDA driver; `None` where this build has none.
pub(crate) fn driver() -> Option<String> {
    None
}

#[cfg(test)]
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
