//! `framewright convert`: frames in, frames out.

use crate::{
    args::ConvertArgs,
    device::Device,
    error::Failure,
    input::{self, Input},
    job::{self, Choices, Job},
    output::{self, Container, Output},
    progress::Progress,
    values::Frames,
    y4m,
};

/// Runs it; gives what is to be said on stderr when all went well.
///
/// # Errors
/// The failure, after which there is no half file.
pub(crate) fn run(args: &ConvertArgs) -> Result<Option<String>, Failure> {
    input::check_options(args)?;
    output::check_options(args)?;
    let container = Container::of(&args.output);
    if let Some(format) = args.format {
        let to = args.to.unwrap_or(container.default_format(format));
        job::check(format, to, args.crop).map_err(Failure::usage)?;
    }
    let device = Device::open(args.device)?;

    let mut input = Input::open(args)?;
    let frames = args.frames.unwrap_or(Frames::FIRST);
    if let Some(count) = input.count() {
        check_count(&input, frames, count)?;
    }
    let to = args.to.unwrap_or(container.default_format(input.shape().format));
    let choices = Choices { matrix: args.matrix, range: args.range, crop: args.crop };
    let about = |e: String| Failure::wrong(format!("{}: {e}", input.name()));
    let job = Job::new(input.shape().clone(), input.color(), to, choices, device).map_err(about)?;
    let shape = job.output();
    container.check(&shape).map_err(|e| Failure::wrong(format!("{}: {e}", args.output.display())))?;

    let mut header = y4m::Header::of(shape.format, shape.size, job.kept_color());
    if let Some(read) = input.y4m_header() {
        (header.rate, header.aspect) = (read.rate.clone(), read.aspect.clone());
    }
    let mut output = Output::open(&args.output, shape, header, frames.is_single())?;
    match convert(&mut input, &job, &mut output, frames) {
        Ok(()) => output.finish()?,
        Err(failure) => {
            return Err(match output.finished() {
                Some(files) => failure.and(files),
                None => failure,
            });
        }
    }
    Ok(job.assumed())
}

/// Checks that an input of `count` frames has those that are asked for.
fn check_count(input: &Input, frames: Frames, count: u64) -> Result<(), Failure> {
    let expected = frames.end.unwrap_or(frames.start + 1);
    if count < expected {
        return Err(Failure::wrong(format!(
            "{}: it has {}, expected at least {expected}",
            input.name(),
            input::counted(count)
        )));
    }
    Ok(())
}

/// Converts the frames one after the other, each in the same two buffers.
fn convert(input: &mut Input, job: &Job, output: &mut Output, frames: Frames) -> Result<(), Failure> {
    let last = frames.end.or(input.count());
    let progress = Progress::start(last.map(|end| end - frames.start));
    let (mut source, mut destination) = (Vec::new(), Vec::new());
    let mut number = 0;
    while frames.end.is_none_or(|end| number < end) {
        if !input.read(&mut source)? {
            break;
        }
        if number >= frames.start {
            job.run(&source, &mut destination)?;
            output.write(number, &mut destination)?;
            progress.step();
        }
        number += 1;
    }
    check_count(input, frames, number)
}
