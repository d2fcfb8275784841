import { createCipheriv } from "node:crypto";
import type { AesCtr } from "xs-mcp-firmware/features/voice/udp-audio";

/** AES-128-CTR by Node. */
export const aesCtr: AesCtr = (key) => (counter, bytes) => createCipheriv("aes-128-ctr", key, counter).update(bytes);
