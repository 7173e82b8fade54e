"""Small servers: a page that collects disturbed answers, and a gateway to a curator's table."""
