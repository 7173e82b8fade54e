"""What several verbs share: options, progress, files, output."""
