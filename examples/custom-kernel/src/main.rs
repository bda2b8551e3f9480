//! Dims the corners of a real frame with a kernel of this program's own, on the CPU or, with `--cuda`, on a GPU.

use custom_kernels::vignette;
use framewright::{Cpu, Image, ImageRef, Matrix, Nv12, Range, Rgb8, Size};
use framewright_kernels::YuvToRgb8;
use std::{error::Error, process::ExitCode};

/// A decoder's frame: the luma plane, then the chroma plane, without padding.
const FRAME: &[u8] = include_bytes!("../frames/cat_321x241.nv12");
const STRENGTH: u32 = 220;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let size = Size::new(321, 241)?;
    let (y, cbcr) = FRAME.split_at(321 * 241);
    let frame = ImageRef::<Nv12>::from_slices([y, cbcr], size, &[321, 322])?;
    // Red first, as a PNG has it.
    let color = YuvToRgb8::new(Matrix::Bt601, Range::Limited, false);

    let mut picture = Image::<Rgb8>::new(size)?;
    if std::env::args().any(|word| word == "--cuda") {
        on_gpu(&frame, color, &mut picture)?;
    } else {
        Cpu::new().launch(vignette(&frame, color, STRENGTH, &mut picture))?;
    }
    write(&picture, "vignette.png")?;
    println!("wrote vignette.png");
    Ok(())
}

#[cfg(feature = "cuda")]
fn on_gpu(frame: &ImageRef<'_, Nv12>, color: YuvToRgb8, picture: &mut Image<Rgb8>) -> Result<(), Box<dyn Error>> {
    use framewright::cuda::{Device, KernelModule};
    const KERNELS: KernelModule = framewright::include_kernels!(env!("CUSTOM_KERNELS_PTX"), custom_kernels::ENTRIES);

    let device = Device::new(0)?;
    device.add_kernels(KERNELS)?;
    device.stream()?.scope(|scope| {
        let on_device = scope.upload(*frame, scope.temporary::<Nv12>(frame.size())?)?;
        let dimmed = scope.temporary::<Rgb8>(frame.size())?;
        let dimmed = scope.launch(vignette(&on_device, color, STRENGTH, dimmed))?;
        scope.download(&dimmed, &mut *picture)
    })?;
    // The GPU gives the CPU's bytes.
    let mut same = Image::<Rgb8>::new(picture.size())?;
    Cpu::new().launch(vignette(frame, color, STRENGTH, &mut same))?;
    let differing = picture.planes().0.rows().zip(same.planes().0.rows()).filter(|(gpu, cpu)| gpu != cpu).count();
    if differing > 0 {
        return Err(format!("{differing} rows differ from the CPU's").into());
    }
    println!("the same bytes as on the CPU");
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn on_gpu(_: &ImageRef<'_, Nv12>, _: YuvToRgb8, _: &mut Image<Rgb8>) -> Result<(), Box<dyn Error>> {
    Err("--cuda: built without it; `cargo run --features cuda -- --cuda`".into())
}

/// Writes a PNG; no half file stays where that fails.
fn write(picture: &Image<Rgb8>, path: &str) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.size().width(), picture.size().height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    let rows: Vec<u8> = picture.planes().0.rows().flat_map(|row| row.as_flattened().to_vec()).collect();
    writer.write_image_data(&rows)?;
    writer.finish()?;
    Ok(std::fs::write(path, bytes)?)
}
