//! The similarity rule: a study at scale s multiplies every volume by s and leaves rates and counts alone, so that the ratios that decide
//! the outcome stay and every filling time shrinks by s.

use crate::{
    catalog::{Catalog, Dimension, Family, Flavor, Variable},
    units::{Bytes, Config, Fraction, Value},
};

/// Largest relative error that rounding to the server's block may bring into a volume.
const ROUNDING: f64 = 0.03;

/// What the small end of a searched knob is called. Its rounding is no obstacle: a searched value is moved to one that is not rounded.
pub const SEARCHED: &str = "the smallest in the space";

/// Seconds that a load should take.
const LOAD_SECONDS: f64 = 60.0;

/// Bytes a second that a load brings in, about, on one core (measured: docs/measurements.md).
const LOAD_BYTES_PER_S: f64 = 11e6;

/// Redo log that a trial may have, as a share of memory: the most in the shipped spaces.
const REDO_SHARE: f64 = 0.25;

/// Share of the host's free memory that the server and the load generator may take.
const MEMORY_SHARE: f64 = 0.7;

/// What a scale must fit.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Memory that is free on this machine, in bytes.
    pub memory: f64,
    /// Room in the state folder, in bytes.
    pub disk: f64,
}

/// What is put on the scale.
pub struct Load<'a> {
    /// The profile's RAM.
    pub ram: Bytes,
    /// Bytes of data at scale 1 (or at any scale, where rows were asked for).
    pub data: &'a dyn Fn(f64) -> f64,
    /// Whether the data at a scale are loaded already.
    pub cached: &'a dyn Fn(f64) -> bool,
    /// Volumes that the study will use: name, value at full size, what it is (`the default`, `the smallest in the space`).
    pub volumes: Vec<(String, Value, &'static str)>,
}

/// Why no scale, or not this one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScaleError {
    /// Something would no longer be itself.
    #[error("scale {scale} is too small: {}", reasons.join("; "))]
    TooSmall {
        /// The scale asked for.
        scale: Fraction,
        /// What would break, a sentence each.
        reasons: Vec<String>,
    },
    /// This machine is too small for it.
    #[error("scale {scale} does not fit this machine: {reason}")]
    TooLarge {
        /// The scale.
        scale: Fraction,
        /// What it would need and what there is.
        reason: String,
    },
    /// Neither fits.
    #[error(
        "no scale fits this machine: at {scale}, the smallest that keeps the server itself ({floor}), {reason}"
    )]
    None {
        /// The smallest permitted scale.
        scale: Fraction,
        /// What keeps it from being smaller.
        floor: String,
        /// What it would need and what there is.
        reason: String,
    },
}

/// `value` of `variable` at scale `s`. A volume's fixed part does not scale: for the redo log, what InnoDB keeps free whatever the size, so
/// that the usable redo, not the file, keeps its ratio to the pool. Zero stays zero: it means off or automatic.
pub fn scaled_value(variable: &Variable, value: &Value, s: f64) -> Value {
    let fixed = variable.fixed_part as f64;
    let volume = |v: f64| if v == 0.0 { 0.0 } else { fixed + s * (v - fixed) };
    match (variable.dimension, value) {
        (_, _) if s == 1.0 => value.clone(),
        (Dimension::Volume, Value::Bytes(v)) => {
            let block = variable.block.unwrap_or(1).max(1) as f64;
            Value::Bytes(((volume(*v as f64) / block).round() * block) as u64)
        }
        (Dimension::Volume, Value::Int(v)) => Value::Int(volume(*v as f64).round() as i64),
        (Dimension::Time, Value::Int(v)) if *v > 0 => Value::Int(((*v as f64 * s).round() as i64).max(1)),
        (Dimension::Time, Value::Real(v)) => Value::Real(v * s),
        _ => value.clone(),
    }
}

/// A configuration at scale `s`, with what must go with it: MySQL rounds the pool up to whole chunks, so its chunk shrinks too.
pub fn scaled(config: &Config, catalog: &Catalog, flavor: Flavor, s: f64) -> Config {
    let mut out: Config = config
        .iter()
        .map(|(name, value)| {
            let value = catalog
                .get(name)
                .map_or_else(|| value.clone(), |variable| scaled_value(variable, value, s));
            (name.clone(), value)
        })
        .collect();
    if s < 1.0
        && flavor.family != Family::MariaDb
        && let Some(Value::Bytes(pool)) = out.get("innodb_buffer_pool_size")
    {
        // A chunk is at least 1 MiB and there are at most a thousand of them.
        let chunk = (pool / 500)
            .next_power_of_two()
            .clamp(Bytes::MIB, 128 * Bytes::MIB);
        out.entry("innodb_buffer_pool_chunk_size".into())
            .or_insert(Value::Bytes(chunk));
    }
    out
}

/// `config` with every volume moved to the full-size value that its scaled and rounded one stands for, so that what is recorded is what
/// was run. A difference of less than half a per cent stays.
pub fn representable(config: &Config, catalog: &Catalog, s: f64) -> Config {
    let moved = |name: &str, value: &Value| -> Option<Value> {
        let variable = catalog
            .get(name)
            .filter(|v| v.dimension == Dimension::Volume && s < 1.0)?;
        let (Value::Bytes(full), fixed) = (value, variable.fixed_part as f64) else {
            return None;
        };
        let stands_for = fixed + (scaled_value(variable, value, s).number()? - fixed) / s;
        let differs = (stands_for / *full as f64 - 1.0).abs() > 0.005;
        (*full > 0 && differs).then(|| Value::Bytes(stands_for.round() as u64))
    };
    config
        .iter()
        .map(|(name, value)| (name.clone(), moved(name, value).unwrap_or_else(|| value.clone())))
        .collect()
}

/// What would break at scale `s`, a sentence each: volumes under the server's minimum, or rounded too coarsely.
pub fn too_small(volumes: &[(String, Value, &'static str)], catalog: &Catalog, s: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    for (name, value, what) in volumes {
        let Some(variable) = catalog.get(name) else {
            continue;
        };
        let (Dimension::Volume, Some(full)) = (variable.dimension, value.number()) else {
            continue;
        };
        if full == 0.0 {
            continue;
        }
        let fixed = variable.fixed_part as f64;
        let exact = fixed + s * (full - fixed);
        let got = scaled_value(variable, value, s);
        let number = got.number().unwrap_or(exact);
        if let Some(min) = variable.min
            && number < min
        {
            reasons.push(format!(
                "{what} of {name}, {value}, would be {}, under the server's minimum of {}",
                Bytes(exact as u64).rounded(),
                Bytes(min as u64).rounded()
            ));
        } else if *what != SEARCHED && (number / exact - 1.0).abs() > ROUNDING {
            reasons.push(format!(
                "{what} of {name}, {value}, would be {} and the server rounds it to {got}",
                Bytes(exact as u64).rounded()
            ));
        }
    }
    reasons
}

/// What scale `s` needs that the machine does not have.
fn too_large(load: &Load<'_>, room: Room, s: f64) -> Option<String> {
    let memory = load.ram.0 as f64 * s;
    // One copy is kept, one is run on, with a redo log and what it inserts.
    let data = (load.data)(s);
    let kept = if (load.cached)(s) { 0.0 } else { data };
    let disk = kept + 1.05 * data + REDO_SHARE * memory + 3e8;
    if memory > room.memory * MEMORY_SHARE {
        Some(format!(
            "the server would need {} of memory, {} are free",
            Bytes(memory as u64).rounded(),
            Bytes(room.memory as u64).rounded()
        ))
    } else if disk > room.disk {
        Some(format!(
            "the data need {} of disk, {} are free",
            Bytes(disk as u64).rounded(),
            Bytes(room.disk as u64).rounded()
        ))
    } else {
        None
    }
}

/// The scale for `--scale auto`: the largest 1/2^k that fits the machine and loads in about a minute, and not one under which the server
/// is no longer itself, however long that loads.
pub fn auto(load: &Load<'_>, catalog: &Catalog, room: Room) -> Result<f64, ScaleError> {
    let scales: Vec<f64> = (0..=12).map(|k| 0.5f64.powi(k)).collect();
    let floor = scales
        .iter()
        .copied()
        .take_while(|s| too_small(&load.volumes, catalog, *s).is_empty())
        .last();
    let floor = floor.unwrap_or(1.0);
    if let Some(reason) = too_large(load, room, floor) {
        let because = too_small(&load.volumes, catalog, floor / 2.0)
            .into_iter()
            .next()
            .unwrap_or_default();
        return Err(ScaleError::None {
            scale: Fraction(floor),
            floor: because,
            reason,
        });
    }
    if (load.data)(1.0) == 0.0 {
        // An empty table is filled in the trials: the smaller the model, the sooner it is itself.
        return Ok(floor);
    }
    Ok(scales
        .into_iter()
        .filter(|s| *s >= floor && too_large(load, room, *s).is_none())
        .find(|s| (load.data)(*s) <= LOAD_SECONDS * LOAD_BYTES_PER_S)
        .unwrap_or(floor))
}

/// Whether `s`, asked for by hand, can be used.
pub fn check(load: &Load<'_>, catalog: &Catalog, room: Room, s: f64) -> Result<(), ScaleError> {
    let reasons = too_small(&load.volumes, catalog, s);
    if !reasons.is_empty() {
        return Err(ScaleError::TooSmall {
            scale: Fraction(s),
            reasons,
        });
    }
    match too_large(load, room, s) {
        Some(reason) => Err(ScaleError::TooLarge {
            scale: Fraction(s),
            reason,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(flavor: &str) -> Catalog {
        Catalog::for_flavor(flavor.parse().unwrap()).unwrap()
    }

    fn volumes() -> Vec<(String, Value, &'static str)> {
        vec![
            (
                "innodb_buffer_pool_size".into(),
                Value::Bytes(128 << 20),
                "the default",
            ),
            (
                "innodb_log_file_size".into(),
                Value::Bytes(96 << 20),
                "the default",
            ),
        ]
    }

    const ROOMY: Room = Room {
        memory: 20e9,
        disk: 80e9,
    };

    #[test]
    fn volumes_scale_and_rates_do_not() {
        let catalog = catalog("mariadb-10.11.19");
        let config = Config::from([
            ("innodb_buffer_pool_size".into(), Value::Bytes(12 << 30)),
            ("innodb_io_capacity".into(), Value::Int(400)),
            ("innodb_max_dirty_pages_pct".into(), Value::Real(75.0)),
            ("innodb_log_buffer_size".into(), Value::Bytes(16 << 20)),
            ("innodb_change_buffering".into(), Value::Text("all".into())),
        ]);
        let got = scaled(&config, &catalog, catalog.flavor(), 1.0 / 16.0);
        assert_eq!(got["innodb_buffer_pool_size"], Value::Bytes(768 << 20));
        for name in [
            "innodb_io_capacity",
            "innodb_max_dirty_pages_pct",
            "innodb_log_buffer_size",
            "innodb_change_buffering",
        ] {
            assert_eq!(got[name], config[name], "{name}");
        }
        assert_eq!(scaled(&config, &catalog, catalog.flavor(), 1.0), config);
    }

    #[test]
    fn the_usable_redo_keeps_its_ratio() {
        let catalog = catalog("mariadb-10.11.19");
        let log = catalog.get("innodb_log_file_size").unwrap();
        // Innodb_checkpoint_max_age as measured.
        let usable = |size: f64| 0.81 * (size - 886_100.0);
        for full in [96u64 << 20, 1 << 30, 16 << 30] {
            let small = scaled_value(log, &Value::Bytes(full), 1.0 / 16.0)
                .number()
                .unwrap();
            let ratio = usable(small) / usable(full as f64);
            assert!((ratio * 16.0 - 1.0).abs() < 0.001, "{full}: {ratio}");
        }
        assert_eq!(
            scaled_value(log, &Value::Bytes(0), 0.5),
            Value::Bytes(0),
            "zero has a meaning of its own"
        );
    }

    #[test]
    fn mysql_gets_a_chunk_that_fits_its_pool() {
        let catalog = catalog("mysql-9.7.4");
        let config = Config::from([("innodb_buffer_pool_size".into(), Value::Bytes(12 << 30))]);
        let got = scaled(&config, &catalog, catalog.flavor(), 1.0 / 16.0);
        let (pool, chunk) = (
            got["innodb_buffer_pool_size"].number(),
            got["innodb_buffer_pool_chunk_size"].number(),
        );
        let (pool, chunk) = (pool.unwrap(), chunk.unwrap());
        assert_eq!(pool % chunk, 0.0);
        assert!(chunk >= 1048576.0 && pool / chunk <= 1000.0);
    }

    #[test]
    fn a_scale_is_refused_where_the_server_would_not_be_itself() {
        let catalog = catalog("mariadb-10.11.19");
        let data = |s: f64| 50e9 * s;
        let load = Load {
            ram: Bytes(16 << 30),
            data: &data,
            cached: &|_| false,
            volumes: volumes(),
        };
        assert_eq!(check(&load, &catalog, ROOMY, 1.0 / 16.0), Ok(()));
        let error = check(&load, &catalog, ROOMY, 1.0 / 32.0).unwrap_err().to_string();
        assert!(
            error.contains("scale 1/32 is too small: the default of innodb_buffer_pool_size, 128M"),
            "{error}"
        );
        let odd = check(&load, &catalog, ROOMY, 1.0 / 12.0).unwrap_err().to_string();
        assert!(
            odd.contains("rounds it"),
            "10.7 MiB is no whole number of MiB: {odd}"
        );
        let error = check(
            &load,
            &catalog,
            Room {
                memory: 1e9,
                disk: 80e9,
            },
            0.5,
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains("of memory"), "{error}");
    }

    #[test]
    fn auto_takes_what_loads_in_a_minute_but_not_less_than_the_floor() {
        let catalog = catalog("mariadb-10.11.19");
        let auto = |full: f64, ram: u64, room: Room| {
            let data = move |s: f64| full * s;
            auto(
                &Load {
                    ram: Bytes(ram),
                    data: &data,
                    cached: &|_| false,
                    volumes: volumes(),
                },
                &catalog,
                room,
            )
        };
        assert_eq!(auto(1e8, 2 << 30, ROOMY), Ok(1.0));
        assert_eq!(auto(5e9, 2 << 30, ROOMY), Ok(0.125));
        assert_eq!(
            auto(60e9, 16 << 30, ROOMY),
            Ok(1.0 / 16.0),
            "the floor, however long it loads"
        );
        let error = auto(60e9, 512 << 30, ROOMY).unwrap_err().to_string();
        assert!(
            error.contains("no scale fits this machine: at 1/16") && error.contains("of memory"),
            "{error}"
        );
        let error = auto(
            60e9,
            16 << 30,
            Room {
                memory: 20e9,
                disk: 1e9,
            },
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains("of disk"), "{error}");
    }

    #[test]
    fn a_searched_value_is_recorded_as_what_was_run() {
        let catalog = catalog("mariadb-10.11.19");
        let config = Config::from([
            ("innodb_buffer_pool_size".into(), Value::Bytes(104 << 20)),
            ("innodb_log_file_size".into(), Value::Bytes(352 << 20)),
        ]);
        let moved = representable(&config, &catalog, 1.0 / 16.0);
        let pool = catalog.get("innodb_buffer_pool_size").unwrap();
        let back = scaled_value(pool, &moved["innodb_buffer_pool_size"], 1.0 / 16.0);
        assert_eq!(
            back,
            scaled_value(pool, &config["innodb_buffer_pool_size"], 1.0 / 16.0)
        );
        assert_eq!(
            back.number().unwrap() * 16.0,
            moved["innodb_buffer_pool_size"].number().unwrap()
        );
        assert_eq!(moved["innodb_log_file_size"], config["innodb_log_file_size"]);
    }
}
