"""The verbs: a module for each, with the function that Typer calls."""
