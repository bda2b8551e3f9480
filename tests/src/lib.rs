//! What framewright's cross-crate tests share. The tests themselves are in `tests/tests/`.
//!
//! | module | what |
//! |---|---|
//! | [`mod@reference`] | YUV to RGB by exact rationals, independent of framewright |
//! | [`frame`] | images in guarded buffers, at any pitch |
//! | [`picture`] | what an image shows, apart from where its bytes lie |
//! | [`conformance`] | the list of cases that every executor runs, bit for bit |
//! | [`formats`] | formats that a user could define |
//! | [`npy`] | the real frames in `tests/data` |

pub mod conformance;
pub mod examples;
pub mod formats;
pub mod frame;
pub mod npy;
pub mod picture;
pub mod reference;
