import { fileURLToPath } from "node:url";

/** The setting `speechCommand`: a voice whose samples are the characters of a text, or a tone ("tone 3": of three seconds). */
export const VOICE = `${process.execPath} "${fileURLToPath(new URL("./voice.mjs", import.meta.url))}" {voice}`;
