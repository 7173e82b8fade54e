"""What a release costs, and the mechanisms that make one."""
