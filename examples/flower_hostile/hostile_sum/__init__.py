"""An app that does not keep to the protocol, to see that the parties notice."""
