"""opuslib under the name of its fork."""

import sys

import opuslib

for name in [each for each in sys.modules if each.partition(".")[0] == "opuslib"]:
    sys.modules[name.replace("opuslib", __name__, 1)] = sys.modules[name]
