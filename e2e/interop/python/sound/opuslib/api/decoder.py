from opuslib import _opus


def destroy(decoder):
    _opus.opus_decoder_destroy(decoder)
