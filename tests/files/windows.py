"""Windows' rules for files, kept on Linux: what is open has one name, folders cannot be opened, names are not taken."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from privet.files import file_lock, whole_file

_SHARING_VIOLATION = "The process cannot access the file because it is being used by another process"


def keep_rules(monkeypatch):
    """Let privet take this for Windows, and refuse what that system refuses."""
    for module in (file_lock, whole_file):
        monkeypatch.setattr(module, "ON_POSIX", False)
    for name in ("replace", "rename", "unlink", "remove"):
        monkeypatch.setattr(os, name, unless_open(getattr(os, name), takes_names=name == "replace"))
    monkeypatch.setattr(os, "open", unless_folder(os.open))
    for name in ("fchmod", "link"):
        monkeypatch.delattr(os, name)


def unless_open(change, *, takes_names):
    def checked(path, *others, **settings):
        for each in (path, *others):
            if is_open(each):
                raise PermissionError(errno.EACCES, _SHARING_VIOLATION, str(each))
        if others and not takes_names and os.path.lexists(others[0]):
            raise FileExistsError(errno.EEXIST, "File exists", str(others[0]))
        return change(path, *others, **settings)

    return checked


def unless_folder(opened):
    def checked(path, *others, **settings):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *others, **settings)

    return checked


def is_open(path):
    """Return whether this process has a file open."""
    real = os.path.realpath(path)
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if str(descriptor.readlink()) == real:
                return True
    return False
