"""A server that collects disturbed answers, and its page: one-time links in, shuffled batches out, a model back."""
