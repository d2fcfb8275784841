/** The gateway's only imports from the firmware's sources. */

export { FIRMWARE } from "../../../src/core/firmware.js";
export { isObject } from "../../../src/core/text/json.js";
export { isNewer, isVersion } from "../../../src/core/text/version.js";
export { readFrame, writeFrame } from "../../../src/features/voice/audio-frames.js";
export { packetDuration } from "../../../src/features/voice/ogg-opus.js";
export { UdpAudio, type UdpSettings } from "../../../src/features/voice/udp-audio.js";
export { readIdentity } from "../../../src/hardware/drivers/image-identity.js";
export type { MemberType, PartKind } from "../../../src/hardware/kinds/part-kind.js";
export { READING_VIEWS } from "../../../src/hardware/reading-views.js";
export { ALL_KINDS, DEVICE_EVENTS, type DeviceEvent } from "../../../src/hardware/vocabulary.js";
export { WavReader } from "../../../src/sound/wav-reader.js";
