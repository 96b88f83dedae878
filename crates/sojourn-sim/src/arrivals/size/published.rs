//! Published distributions of sizes.
//!
//! | name | source |
//! | --- | --- |
//! | `web-search` | the cluster of a web search of Alizadeh et al., DCTCP (SIGCOMM 2010), as `WebSearch_distribution.txt` |
//! | `hadoop` | Facebook's Hadoop cluster of Roy et al. (SIGCOMM 2015), as `FbHdp_distribution.txt` |
//! | `storage` | Alibaba's storage, published with HPCC of Li et al. (SIGCOMM 2019), as `AliStorage2019.txt` |
//! | `data-mining` | the cluster of Greenberg et al., VL2 (SIGCOMM 2009), as `Figure1_traffic/datamining.csv` of TritonNetworking/opera-sim |
//!
//! The files of the first three are those of `traffic_gen` in
//! alibaba-edu/High-Precision-Congestion-Control, which is linear between points and begins at 0 B:
//! 0 %. The points of `data-mining`, shares there, begin at 100 B: 0 %.

use crate::registry::named;

named! {
    /// A published distribution of sizes.
    Published, "distribution of sizes" {
        /// Web search.
        WebSearch = "web-search",
        /// Hadoop at Facebook.
        Hadoop = "hadoop",
        /// Storage at Alibaba.
        Storage = "storage",
        /// Data mining.
        DataMining = "data-mining",
    }
}

type Points = &'static [(f64, f64)];

const WEB_SEARCH: Points = &[
    (10e3, 15.0),
    (20e3, 20.0),
    (30e3, 30.0),
    (50e3, 40.0),
    (80e3, 53.0),
    (200e3, 60.0),
    (1e6, 70.0),
    (2e6, 80.0),
    (5e6, 90.0),
    (10e6, 97.0),
    (30e6, 100.0),
];

const HADOOP: Points = &[
    (100.0, 1.0),
    (200.0, 2.0),
    (300.0, 5.0),
    (350.0, 15.0),
    (400.0, 20.0),
    (500.0, 30.0),
    (600.0, 40.0),
    (700.0, 50.0),
    (1e3, 60.0),
    (2e3, 67.0),
    (7e3, 70.0),
    (30e3, 72.0),
    (50e3, 82.0),
    (80e3, 87.0),
    (120e3, 90.0),
    (300e3, 95.0),
    (1e6, 97.5),
    (2e6, 99.0),
    (10e6, 100.0),
];

const STORAGE: Points = &[
    (4e3, 22.93),
    (8e3, 69.21),
    (16e3, 80.61),
    (32e3, 90.47),
    (64e3, 93.53),
    (128e3, 96.77),
    (256e3, 97.53),
    (2e6, 100.0),
];

const DATA_MINING: Points = &[
    (100.0, 0.0),
    (180.0, 8.5),
    (250.0, 14.0),
    (560.0, 33.0),
    (900.0, 47.0),
    (1_100.0, 55.0),
    (1_870.0, 65.0),
    (3_160.0, 70.0),
    (10e3, 80.0),
    (100_001.0, 87.4),
    (400e3, 90.0),
    (1_850e3, 95.0),
    (10e6, 97.0),
    (30e6, 98.0),
    (100e6, 99.0),
    (250e6, 99.5),
    (1e9, 100.0),
];

impl Published {
    /// Its points: sizes in bytes, and per cent of the transfers that are at most so large.
    pub fn points(self) -> &'static [(f64, f64)] {
        match self {
            Published::WebSearch => WEB_SEARCH,
            Published::Hadoop => HADOOP,
            Published::Storage => STORAGE,
            Published::DataMining => DATA_MINING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Curve;

    /// Means by hand, from the points.
    #[test]
    fn means_are_those_of_the_published_points() {
        let means = [
            (Published::WebSearch, 1_711_250.0),
            (Published::Hadoop, 120_421.0),
            (Published::Storage, 40_870.0),
            (Published::DataMining, 5_036_535.0),
        ];
        for (published, mean) in means {
            let curve = Curve { points: published.points().to_vec() };
            assert_eq!(curve.validate(), Ok(()));
            let share = curve.mean() / mean;
            assert!((share - 1.0).abs() < 1e-5, "{}: {}", published.name(), curve.mean());
        }
    }
}
