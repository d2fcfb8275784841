import { openUdp } from "src/platform/udp-audio";
import { voiceFeature } from "./voice.js";

/** Speech to and from the backend, for a board with a codec. */
export default voiceFeature(openUdp);
