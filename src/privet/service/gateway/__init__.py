"""A server that holds a table and its ledger: analysts ask for private models within budgets, and never see a row."""
