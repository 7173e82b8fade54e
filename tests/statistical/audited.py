"""Tables and lines that the library's own audits share."""

from privet import Categorical, Schema
from privet.attack import audit
from privet.attack.neighbours import worst_cases

ONE = Schema([Categorical("a", [5, 9])], classes=["no", "yes"], rows=40)
TWO = Schema([Categorical("a", [5, 9]), Categorical("b", ["u", "v"])], classes=["no", "yes"], rows=40)
EMPTY, ALONE, CONTRADICTS, TIPS, SECOND = worst_cases(TWO)
LINE = "{:<44} claimed {:<6g} shown {:<7.3g} {:>9,} fits  {}"
# How often a search may call a sound release a fault.
_DOUBT = 1e-4


def told(name, epsilon, shown, fits, verdict):
    print(LINE.format(name, epsilon, shown, fits, verdict), flush=True)


def search(name, *args, most=6_400, **options):
    """Audit with more and more runs until the claim is contradicted, and say how many fits that took in all."""
    runs, fits, doubt = 50, 0, _DOUBT
    while True:
        doubt /= 2  # so that all of them together stay within it
        found = audit(*args, runs=runs, confidence=1 - doubt, **options)
        fits += found.runs
        if found.contradicts or runs >= most:
            break
        runs *= 2
    told(name, found.epsilon, found.epsilon_shown, fits, "caught" if found.contradicts else "nothing found")
    return found
