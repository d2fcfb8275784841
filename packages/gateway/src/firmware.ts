/** The gateway's only imports from the firmware's sources. */

export { FIRMWARE } from "xs-mcp-firmware/core/firmware";
export { isObject } from "xs-mcp-firmware/core/text/json";
export { isNewer, isVersion } from "xs-mcp-firmware/core/text/version";
export { readFrame, writeFrame } from "xs-mcp-firmware/features/voice/audio-frames";
export { packetDuration } from "xs-mcp-firmware/features/voice/ogg-opus";
export { UdpAudio, type UdpSettings } from "xs-mcp-firmware/features/voice/udp-audio";
export { readIdentity } from "xs-mcp-firmware/hardware/drivers/image-identity";
export type { MemberType, PartKind } from "xs-mcp-firmware/hardware/kinds/part-kind";
export { READING_VIEWS } from "xs-mcp-firmware/hardware/reading-views";
export { ALL_KINDS, DEVICE_EVENTS, type DeviceEvent } from "xs-mcp-firmware/hardware/vocabulary";
export { WavReader } from "xs-mcp-firmware/sound/wav-reader";
