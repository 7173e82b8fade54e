"""Many small cases in one test. Collecting a test costs about a millisecond, often more than the case itself."""

import functools
import inspect


def loop_over(names, cases):
    """Run a test on every case, like `pytest.mark.parametrize` but as one test; a failure names its case.

    Fixtures are shared by all cases, so the test must not change them.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = list(cases)

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **fixtures):
            for case in cases:
                values = dict(zip(given, [case] if len(given) == 1 else case, strict=True))
                try:
                    test(*args, **fixtures, **values)
                except Exception as error:
                    error.add_note("case: " + ", ".join(f"{name}={value!r}" for name, value in values.items()))
                    raise

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in given]
        run.__signature__ = signature.replace(parameters=left)
        return run

    return decorate
