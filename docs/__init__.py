"""The documentation: pages, pictures, and the tools that put them together."""
