"""Stands in for the packages named in XS_MCP_STAND_INS (separated by commas) where they are not installed.

A peer imports packages for speech, sound and models at its start, which interop does not need. Whatever is read of a
stand-in is a class, and whatever is asked of its objects is another such object, which is also an empty string.
"""

import importlib.abc
import importlib.machinery
import os
import sys
import types


class AnyClass(type):
    """Constants of a package are read of its modules, which are classes here."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Anything(str, metaclass=AnyClass):
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)

    def __init__(self, *args, **kwargs):
        pass

    def __bool__(self):
        return True

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()

    def __getitem__(self, key):
        return Anything()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = AnyClass(name, (Anything,), {})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Finder(set(os.environ.get("XS_MCP_STAND_INS", "").split(","))))
