import { Voice, type VoiceOptions } from "./voice.js";

/** Speech to and from the backend, for a board with a codec. */
export default (options: VoiceOptions): Voice => new Voice(options);
