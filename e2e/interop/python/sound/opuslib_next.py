"""opuslib under the name of its fork."""

import sys

import opuslib

sys.modules[__name__] = opuslib
