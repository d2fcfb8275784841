"""A sound card for a peer, in real time, without hardware.

Its speaker writes what is played to the file XS_MCP_SPEAKER, as samples of 16 bits with 24,000 a second. Its microphone
hears the WAV file XS_MCP_MICROPHONE again and again, or silence.
"""

import os
import threading
import time
import types
import wave

import numpy as np

OUTPUT_RATE = 24_000
INPUT_RATE = 16_000

default = types.SimpleNamespace(device=(0, 1))


def _device(index, name, rate, inputs, outputs):
    return {
        "index": index,
        "name": name,
        "hostapi": 0,
        "default_samplerate": float(rate),
        "max_input_channels": inputs,
        "max_output_channels": outputs,
    }


DEVICES = [_device(0, "microphone", INPUT_RATE, 1, 0), _device(1, "speaker", OUTPUT_RATE, 0, 1)]


def query_devices(device=None, kind=None):
    if kind is not None:
        return DEVICES[0 if kind == "input" else 1]
    return DEVICES if device is None else DEVICES[device]


def query_hostapis(index=None):
    hosts = [{"name": "files", "devices": [0, 1], "default_input_device": 0, "default_output_device": 1}]
    return hosts if index is None else hosts[index]


class _Stream:
    def __init__(self, samplerate=None, channels=1, blocksize=0, callback=None, **_):
        self.samplerate = int(samplerate)
        self.channels = channels
        self.blocksize = blocksize or self.samplerate // 50
        self.callback = callback
        self.active = False

    def start(self):
        self.active = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        due = time.monotonic()
        while self.active:
            self._block()
            due += self.blocksize / self.samplerate
            time.sleep(max(0, due - time.monotonic()))

    def stop(self):
        self.active = False

    def close(self):
        self.active = False


class InputStream(_Stream):
    def __init__(self, **options):
        super().__init__(**options)
        self.samples = np.zeros(self.blocksize, np.float32)
        self.at = 0
        file = os.environ.get("XS_MCP_MICROPHONE")
        if file:
            with wave.open(file) as sound:
                assert sound.getframerate() == self.samplerate, "the microphone's file has another rate"
                read = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
                self.samples = (read / 0x8000).astype(np.float32)

    def _block(self):
        at = np.arange(self.at, self.at + self.blocksize) % len(self.samples)
        self.at += self.blocksize
        self.callback(self.samples[at].reshape(-1, 1), self.blocksize, None, "")


class OutputStream(_Stream):
    def __init__(self, **options):
        super().__init__(**options)
        self.file = open(os.environ.get("XS_MCP_SPEAKER", os.devnull), "ab", buffering=0)

    def _block(self):
        block = np.zeros((self.blocksize, self.channels), np.float32)
        self.callback(block, self.blocksize, None, "")
        self.file.write((np.clip(block[:, 0], -1, 1) * 0x7FFF).astype("<i2").tobytes())
