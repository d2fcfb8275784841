import type { OfferedFirmware, ServedBackend } from "../../core/backend.js";
import { isObject, parseJson } from "../../core/text/json.js";
import { splitUrl } from "../../core/text/url.js";

/** How the device is bound to an account. */
export interface Activation {
	/** Text and code to show; the user enters the code elsewhere. Either may be empty. */
	readonly message: string;
	readonly code: string;
	/** The challenge that a device with a serial number signs. */
	readonly challenge: string;
	/** Milliseconds for which the server may hold the activation request (long poll). */
	readonly timeout: number;
}

export interface BootstrapAnswer {
	/** The usable backends, preferred first. */
	readonly backends: readonly ServedBackend[];
	/** Dropped parts of the answer: each text names a block or member and its error. */
	readonly dropped: readonly string[];
	/** Milliseconds since 1970 (UTC), and minutes that local time is ahead of that. */
	readonly serverTime: { readonly time: number; readonly timezone: number } | undefined;
	readonly firmware: OfferedFirmware | undefined;
	readonly activation: Activation | undefined;
}

/** The members that are read: XS would keep the names of any others until the restart. */
const NAMES: readonly string[] = Object.freeze(
	(
		"mqtt endpoint client_id username password publish_topic subscribe_topic keepalive websocket url token version " +
		"server_time timestamp timezone_offset firmware force sha256 signature activation message code challenge timeout_ms " +
		"success error"
	).split(" "),
);

/** The MQTT port of a server that names none, and the only one that means TLS. */
const MQTTS_PORT = 8883;

/** Maximum number of values in an answer, which is parsed in a small heap. */
const MAX_VALUES = 256;

/** Times accepted for the clock: from 2020, because an earlier clock is not set, to 2106 (32 bits of seconds). */
const MIN_TIME = 1_577_836_800_000;
const MAX_TIME = 4_294_967_295_000;

/** The largest offset of local time, minutes. */
const MAX_OFFSET = 14 * 60;

const MAX_TIMEOUT = 120_000;

/**
 * Reads the server's answer. Null counts as absent. An invalid block is dropped, and so is an invalid member if its
 * block is usable without it.
 *
 * @throws Error if the text is not a JSON object, or that quotes the server's own error, which comes with status 200
 */
export const readAnswer = (text: string): BootstrapAnswer => {
	const answer = parseJson(text, MAX_VALUES, NAMES);
	if (!isObject(answer)) {
		throw new Error("the response is not a JSON object");
	}
	const { success, error, message } = answer;
	if (success === false || typeof error === "string") {
		throw new Error(`server error: ${String(error ?? message ?? "an error").slice(0, 200)}`);
	}
	const dropped: string[] = [];
	const read = <Value>(name: string, readBlock: (block: Block, dropped: string[]) => Value): Value | undefined =>
		attempt(dropped, () => {
			const block = answer[name];
			if (isGiven(block) && !isObject(block)) {
				throw new Error(`${name}: expected an object, got ${typeof block}`);
			}
			return isObject(block) ? readBlock(block, dropped) : undefined;
		});
	return {
		backends: [read("mqtt", readMqtt), read("websocket", readWebSocket)].filter((backend) => backend !== undefined),
		firmware: read("firmware", readFirmware),
		activation: read("activation", readActivation),
		serverTime: read("server_time", readTime),
		dropped,
	};
};

/** @returns undefined after an error, whose message is added to the dropped ones */
const attempt = <Value>(dropped: string[], read: () => Value): Value | undefined => {
	try {
		return read();
	} catch (error) {
		dropped.push((error as Error).message);
		return undefined;
	}
};

type Block = Readonly<Record<string, unknown>>;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const readMqtt = (mqtt: Block, dropped: string[]): ServedBackend => {
	const endpoint = string("mqtt.endpoint", mqtt.endpoint).trim();
	const url = splitUrl(endpoint.includes("://") ? endpoint : `mqtt://${endpoint}`);
	if (url === undefined || url.path !== "/") {
		throw new Error(`mqtt.endpoint: expected host[:port], got ${JSON.stringify(endpoint.slice(0, 200))}`);
	}
	const { port = MQTTS_PORT } = url;
	const scheme = endpoint.includes("://") ? url.scheme : port === MQTTS_PORT ? "mqtts" : "mqtt";
	const host = url.host.includes(":") ? `[${url.host}]` : url.host;
	const subscribeTopic = string("mqtt.subscribe_topic", mqtt.subscribe_topic ?? "");
	const keepAlive = optionalNumber("mqtt.keepalive", mqtt.keepalive, dropped);
	return {
		backend: `${scheme}://${host}:${port}`,
		clientId: string("mqtt.client_id", mqtt.client_id),
		mqttUsername: string("mqtt.username", mqtt.username ?? ""),
		mqttPassword: string("mqtt.password", mqtt.password ?? ""),
		publishTopic: string("mqtt.publish_topic", mqtt.publish_topic),
		subscribeTopic: subscribeTopic === "null" ? "" : subscribeTopic,
		...(keepAlive !== undefined && { keepAlive }),
	};
};

const readWebSocket = (websocket: Block, dropped: string[]): ServedBackend => {
	const protocolVersion = optionalNumber("websocket.version", websocket.version, dropped);
	return {
		backend: string("websocket.url", websocket.url).trim(),
		token: string("websocket.token", websocket.token ?? ""),
		...(protocolVersion !== undefined && { protocolVersion }),
	};
};

/** Ignores the time of a clock that is unset or broken. */
const readTime = ({ timestamp, timezone_offset: timezone }: Block): BootstrapAnswer["serverTime"] => {
	if (typeof timestamp !== "number" || timestamp < MIN_TIME || timestamp > MAX_TIME) {
		return undefined;
	}
	const isOffset = typeof timezone === "number" && Math.abs(timezone) <= MAX_OFFSET;
	return { time: timestamp, timezone: isOffset ? timezone : 0 };
};

/** Servers without firmware send no URL, or an invalid one, which is used only if the version is newer. */
const readFirmware = ({ version, url: given, force, sha256, signature }: Block): OfferedFirmware | undefined => {
	const url = string("firmware.url", given ?? "").trim();
	if (url === "") {
		return undefined;
	}
	return {
		version: string("firmware.version", version ?? ""),
		url,
		force: force === 1 || force === true,
		sha256: isGiven(sha256) ? string("firmware.sha256", sha256) : undefined,
		signature: isGiven(signature) ? string("firmware.signature", signature) : undefined,
	};
};

/** Reads how to bind the device. An activation without a code and a challenge counts as absent, as in the C++ firmware. */
const readActivation = ({ message, code, challenge, timeout_ms: timeout }: Block): Activation | undefined => {
	const activation = {
		message: string("activation.message", message ?? ""),
		code: string("activation.code", code ?? ""),
		challenge: string("activation.challenge", challenge ?? ""),
		timeout: typeof timeout === "number" && timeout > 0 ? Math.min(timeout, MAX_TIMEOUT) : 0,
	};
	return activation.code + activation.challenge === "" ? undefined : activation;
};

/** Reads a text. Some servers send codes and tokens as numbers. */
const string = (name: string, value: unknown): string => {
	if (typeof value === "string") {
		return value;
	}
	if (Number.isSafeInteger(value)) {
		return String(value);
	}
	throw new Error(`${name}: expected a string, got ${isGiven(value) ? typeof value : "nothing"}`);
};

/** Reads a number. Some servers send numbers as text, and 0 for none. */
const optionalNumber = (name: string, value: unknown, dropped: string[]): number | undefined =>
	attempt(dropped, () => {
		const number = typeof value === "string" ? Number(value) : (value ?? 0);
		if (!Number.isFinite(number)) {
			throw new Error(`${name}: expected a number, got ${JSON.stringify(value)?.slice(0, 40)}`);
		}
		return (number as number) || undefined;
	});
