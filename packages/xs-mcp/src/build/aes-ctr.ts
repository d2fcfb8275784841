import { createCipheriv } from "node:crypto";
import type { AesCtr } from "../../../../src/features/voice/udp-audio.js";

/** AES-128-CTR by Node. */
export const aesCtr: AesCtr = (key) => (counter, bytes) => createCipheriv("aes-128-ctr", key, counter).update(bytes);
