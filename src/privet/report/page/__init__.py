"""The page to read and sign: `page.write_report` writes it.

Modules here turn a model into plain values and pictures as data. `templates/` holds all markup and most of the page's
prose; templates escape every value by default. Put numbers into a module, and words and tags into a template.
"""
