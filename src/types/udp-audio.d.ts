import type { OpenUdp } from "../features/voice/udp-audio.js";

/** Opens an audio channel with the host's UDP and cipher. */
export const openUdp: OpenUdp;
