//! Which configuration to try next. Pure: the same history and seed give the same answer.

mod quasi;
#[cfg(test)]
pub(crate) use quasi::sobol_point;
