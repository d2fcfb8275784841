from opuslib import _opus


def destroy(encoder):
    _opus.opus_encoder_destroy(encoder)
