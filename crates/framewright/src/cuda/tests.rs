//! Tests on the stand-in driver.
