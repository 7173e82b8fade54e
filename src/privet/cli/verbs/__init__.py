"""The verbs: one module for each verb, or for each group of verbs such as ``privet party``.

A verb is a function. Its parameters are the options, and its docstring is the help with examples at the end. Import
heavy libraries inside functions: `app` imports all verbs at every start.
"""
