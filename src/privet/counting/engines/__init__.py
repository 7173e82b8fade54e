"""Where parts are counted: executors, Dask, Spark."""
