"""How the documentation is put together from what the repository holds, and how it is checked."""
