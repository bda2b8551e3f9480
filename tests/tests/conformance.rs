//! Every executor runs the one list of cases, bit for bit.

use framewright::{Cpu, Format, Matrix, RgbFormat, YuvFormat};
use framewright_tests::conformance::{
    ConvertJob, CopyJob, Executor, Outcome, Section, run, run_until_difference, source_view,
};
use std::error::Error;

/// A module of tests for each executor.
macro_rules! executors {
    ($($name:ident => $executor:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn sizes() {
                passes(&run(&$executor, Section::Sizes), 72_250);
            }
            #[test]
            fn crops() {
                passes(&run(&$executor, Section::Crops), 400_000);
            }
            #[test]
            fn large() {
                passes(&run(&$executor, Section::Large), 140);
            }
            #[test]
            fn copies() {
                passes(&run(&$executor, Section::Copies), 43_350);
            }
        }
    )*};
}

executors! {
    cpu_all_threads => Cpu::new();
    cpu_single_thread => Cpu::single_threaded();
}

/// At least `cases` cases, and none differs.
fn passes(outcome: &Outcome, cases: u64) {
    println!("{} cases", outcome.cases);
    assert!(outcome.cases >= cases, "only {} cases ran", outcome.cases);
    assert_eq!(outcome.differing, 0, "of {} cases, first {:#?}", outcome.cases, outcome.first_difference);
}

/// What an executor may get wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Matrix,
    LastByte,
    ByteAfterARow,
    ByteBeforeAPlane,
    FirstRowTwice,
    Crop,
    Refuses,
}

/// An executor with a fault, to see that the list finds it.
struct Faulty(Fault);

impl Faulty {
    /// Spoils a plane of the result.
    fn spoil<F: Format>(&self, frame: &mut framewright_tests::frame::Frame<F>) {
        let place = *frame.places().last().expect("a plane");
        let last = place.row(place.rows - 1);
        let bytes = frame.buffers_mut().nth(place.buffer).expect("its buffer");
        match self.0 {
            Fault::LastByte => bytes[last.end - 1] ^= 0x80,
            Fault::ByteAfterARow => bytes[place.extent().end] = 0,
            Fault::ByteBeforeAPlane => bytes[place.extent().start - 1] = 255,
            Fault::FirstRowTwice if place.rows > 1 => {
                let first = bytes[place.row(0)].to_vec();
                bytes[place.row(1)].copy_from_slice(&first);
            }
            _ => {}
        }
    }
}

impl Executor for Faulty {
    fn convert<S: YuvFormat, D: RgbFormat>(&self, jobs: &mut [ConvertJob<S, D>]) -> Result<(), Box<dyn Error>> {
        if self.0 == Fault::Refuses {
            return Err("no device".into());
        }
        for job in jobs {
            let conversion = match self.0 {
                Fault::Matrix => job.conversion.matrix(Matrix::Bt2020),
                _ => job.conversion,
            };
            let source = source_view(&job.source, job.region);
            if self.0 == Fault::Crop {
                // The right size from the wrong place: moved down to the chroma grid.
                let mut rect = conversion.rect(source.size())?;
                rect.offset.x -= rect.offset.x % 2;
                let conversion = conversion.crop(rect);
                Cpu::new().convert(&source, &mut job.destination.view_mut(), &conversion)?;
                continue;
            }
            Cpu::new().convert(&source, &mut job.destination.view_mut(), &conversion)?;
            self.spoil(&mut job.destination);
        }
        Ok(())
    }

    fn copy<F: Format>(&self, jobs: &mut [CopyJob<F>]) -> Result<(), Box<dyn Error>> {
        if self.0 == Fault::Refuses {
            return Err("no device".into());
        }
        Executor::copy(&Cpu::new(), jobs)?;
        jobs.iter_mut().for_each(|job| self.spoil(&mut job.destination));
        Ok(())
    }
}

#[test]
fn the_list_finds_planted_faults() {
    use Fault::*;
    for (fault, section) in [
        (Matrix, Section::Sizes),
        (LastByte, Section::Sizes),
        (LastByte, Section::Crops),
        (LastByte, Section::Large),
        (ByteAfterARow, Section::Sizes),
        (ByteBeforeAPlane, Section::Crops),
        (FirstRowTwice, Section::Sizes),
        (Crop, Section::Crops),
        (Refuses, Section::Sizes),
        (LastByte, Section::Copies),
        (ByteAfterARow, Section::Copies),
        (ByteBeforeAPlane, Section::Copies),
        (FirstRowTwice, Section::Copies),
        (Refuses, Section::Copies),
    ] {
        let outcome = run_until_difference(&Faulty(fault), section);
        let difference = outcome.first_difference.unwrap_or_else(|| panic!("{section:?}: {fault:?} was not found"));
        let in_guard = difference.wrong.is_some_and(|wrong| wrong.plane == "guard");
        assert_eq!(in_guard, matches!(fault, ByteAfterARow | ByteBeforeAPlane), "{fault:?}: {difference:?}");
        assert_eq!(difference.error.is_some(), fault == Refuses, "{fault:?}: {difference:?}");
    }
}
