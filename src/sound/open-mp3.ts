/// <reference path="../types/mp3.d.ts" />
import MP3 from "mp3/decode";
import type { SoundReader } from "../hardware/sound.js";
import { Mp3Reader } from "./mp3-reader.js";

/** Opens a reader with the SDK's decoder, libmad. @throws Error without 28 KB of memory for it */
export default (): SoundReader => new Mp3Reader(new MP3());
