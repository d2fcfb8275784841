"""The part of opuslib that peers use, by the system's libopus: Debian has no package of it."""

import ctypes
import ctypes.util
import sys
import types

APPLICATION_VOIP = 2048
APPLICATION_AUDIO = 2049
SIGNAL_VOICE = 3001
RESET_STATE = 4028

_opus = ctypes.CDLL(ctypes.util.find_library("opus") or "libopus.so.0")
_opus.opus_encoder_create.restype = ctypes.c_void_p
_opus.opus_decoder_create.restype = ctypes.c_void_p

MAX_PACKET = 4_000


class OpusError(Exception):
    pass


def _checked(result):
    if result < 0:
        raise OpusError(f"libopus: {result}")
    return result


class Encoder:
    def __init__(self, fs, channels, application):
        error = ctypes.c_int()
        self.channels = channels
        created = _opus.opus_encoder_create(fs, channels, application, ctypes.byref(error))
        _checked(error.value)
        self.encoder_state = ctypes.c_void_p(created)

    def reset_state(self):
        _checked(_opus.opus_encoder_ctl(self.encoder_state, RESET_STATE))

    def encode(self, pcm, frame_size):
        packet = ctypes.create_string_buffer(MAX_PACKET)
        size = _opus.opus_encode(self.encoder_state, pcm, frame_size, packet, MAX_PACKET)
        return packet.raw[: _checked(size)]

    def encode_float(self, pcm, frame_size):
        packet = ctypes.create_string_buffer(MAX_PACKET)
        size = _opus.opus_encode_float(self.encoder_state, pcm, frame_size, packet, MAX_PACKET)
        return packet.raw[: _checked(size)]


class Decoder:
    def __init__(self, fs, channels):
        error = ctypes.c_int()
        self.channels = channels
        created = _opus.opus_decoder_create(fs, channels, ctypes.byref(error))
        _checked(error.value)
        self.decoder_state = ctypes.c_void_p(created)

    def decode(self, packet, frame_size, decode_fec=False):
        return self._decode(_opus.opus_decode, 2, packet, frame_size, decode_fec)

    def decode_float(self, packet, frame_size, decode_fec=False):
        return self._decode(_opus.opus_decode_float, 4, packet, frame_size, decode_fec)

    def _decode(self, function, width, packet, frame_size, decode_fec):
        samples = ctypes.create_string_buffer(frame_size * self.channels * width)
        count = function(self.decoder_state, packet, len(packet), samples, frame_size, int(decode_fec))
        return samples.raw[: _checked(count) * self.channels * width]


def _module(name, **members):
    module = types.ModuleType(f"{__name__}.{name}")
    vars(module).update(members)
    sys.modules[module.__name__] = module
    return module


constants = _module(
    "constants",
    APPLICATION_VOIP=APPLICATION_VOIP,
    APPLICATION_AUDIO=APPLICATION_AUDIO,
    SIGNAL_VOICE=SIGNAL_VOICE,
    RESET_STATE=RESET_STATE,
)
api = _module(
    "api",
    decoder=_module("api.decoder", destroy=_opus.opus_decoder_destroy),
    encoder=_module("api.encoder", destroy=_opus.opus_encoder_destroy),
)
