"""Everything privet refuses to do, and how it says so.

::

    PrivetError
    ├── ParameterError       an argument is out of its range
    ├── SchemaError          a schema contradicts itself, or its file cannot be read
    ├── DataError            a table or its labels do not fit the schema
    ├── StructureTooLarge    the trees asked for would not fit in memory
    ├── ModelFileError       a model file is damaged, or of a later format
    └── DatasetUnavailable   an example data set cannot be found or fetched

Every sentence says what is wrong and the way out. Parameters and names of columns may be quoted; a value, a row
number or a count from the table never is.
"""


class PrivetError(Exception):
    """The root of privet's errors."""


class ParameterError(PrivetError, ValueError):
    """An argument is out of its range."""


class SchemaError(PrivetError, ValueError):
    """A schema contradicts itself, or its file cannot be read."""


class DataError(PrivetError, ValueError):
    """A table or its labels do not fit the schema."""


class StructureTooLarge(PrivetError, ValueError):
    """The trees asked for would hold more class counts than the cap allows."""


class ModelFileError(PrivetError, ValueError):
    """A model file is damaged, or of a format this version does not know."""


class DatasetUnavailable(PrivetError, OSError):
    """An example data set is neither on this machine nor can it be fetched."""


class PrivacyLeakWarning(UserWarning):
    """Something was read from the rows without noise, because the caller asked for it by name."""
