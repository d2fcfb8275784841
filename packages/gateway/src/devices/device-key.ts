import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFileSync } from "../config/state-files.js";
import { ConfigurationError } from "../plugin.js";

const KEY_BYTES = 32;

/** The gateway's own key, in its state folder, so that derived values survive a restart. */
export type DeviceKey = ReturnType<typeof openDeviceKey>;

/**
 * @param folder the gateway's state folder; a missing key is made when it is first needed
 * @throws ConfigurationError if the key is damaged: the gateway would fail with the first device
 */
export function openDeviceKey(folder: string) {
	const path = join(folder, "device-key");
	let key = existsSync(path) ? readKey(path) : undefined;
	/** 256 bits that only the gateway can derive from these texts, as 43 characters of base64url. */
	const derive = (...texts: readonly string[]): string => {
		key ??= readKey(path);
		return createHmac("sha256", key).update(JSON.stringify(texts)).digest("base64url");
	};

	/** Verifies a text of {@link derive}. */
	const verify = (given: string, ...texts: readonly string[]): boolean => {
		const [expected, actual] = [Buffer.from(derive(...texts)), Buffer.from(given)];
		return expected.length === actual.length && timingSafeEqual(expected, actual);
	};

	return {
		derive,
		verify,
		/** Makes a text of JSON with a code, which only this gateway can make. Everybody can read it. */
		seal(purpose: string, content: unknown): string {
			const text = Buffer.from(JSON.stringify(content)).toString("base64url");
			return `${text}.${derive(purpose, text)}`;
		},
		/** Returns what was sealed for a purpose; undefined if this gateway has not made the text. */
		open(purpose: string, sealed: string): unknown {
			const [text = "", code = "", ...more] = sealed.split(".");
			const isOwn = more.length === 0 && verify(code, purpose, text);
			return isOwn ? JSON.parse(Buffer.from(text, "base64url").toString()) : undefined;
		},
	};
}

/** @throws ConfigurationError if the file's key is too short: it could be guessed */
function readKey(path: string): Buffer {
	try {
		const key = Buffer.from(readFileSync(path, "utf8"), "hex");
		if (key.length !== KEY_BYTES) {
			throw new ConfigurationError([`${path} is damaged: delete it, then bind the devices again`]);
		}
		return key;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
			throw error;
		}
		const key = randomBytes(KEY_BYTES);
		replaceFileSync(path, key.toString("hex"));
		return key;
	}
}
