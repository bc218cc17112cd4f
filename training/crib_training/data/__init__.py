"""Games as data: Parquet shards with a row for each decision, written by `crib data`."""

from crib_training.data.reading import load

__all__ = ["load"]
