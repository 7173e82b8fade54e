"""What several holders of rows get together: forests that are combined, secure sums, one alone, a curator."""
