/// <reference path="../types/mp3.d.ts" />
import MP3 from "mp3/decode";
import type { SoundReader } from "../hardware/sound.js";
import { Mp3Reader } from "./mp3-reader.js";

/** Opens a reader that decodes MP3 with the SDK's libmad. That takes 28 KB of memory. */
export default (): SoundReader => new Mp3Reader(() => new MP3());
