import UDP from "embedded:io/socket/udp";
import * as crypt from "crypt";
import { type AesCtr, udpOpener } from "../features/voice/udp-audio.js";
import type { UdpRecord } from "../protocols/udp-socket.js";
import { SystemResolver } from "./system-resolver.js";

/** Members of the SDK's module that its typings lack. */
const { BlockCipher, Mode } = crypt as unknown as {
	readonly BlockCipher: new (cipher: "AES", key: ArrayBuffer) => object;
	readonly Mode: new (
		mode: "CTR",
		cipher: object,
	) => { setIV(counter: ArrayBuffer): void; encrypt(bytes: Uint8Array): ArrayBuffer };
};

/** AES-128-CTR, by the SDK's C code. */
const aesCtr: AesCtr = (key) => {
	const mode = new Mode("CTR", new BlockCipher("AES", key.slice().buffer as ArrayBuffer));
	return (counter, bytes) => {
		mode.setIV(counter.slice().buffer as ArrayBuffer);
		return new Uint8Array(mode.encrypt(bytes));
	};
};

/** Opens an audio channel with the SDK's UDP and cipher. */
export const openUdp = udpOpener({ io: UDP as unknown as UdpRecord["io"] }, new SystemResolver(), aesCtr);
