import type { Settings } from "../hardware/hardware.js";
import type { SessionPolicy } from "../protocols/protocol.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { readSetting } from "./read-setting.js";

/** Where the device finds its backend, and what it says of itself there. */
export interface Config {
	/** ws://host[:port]/path, wss://…, mqtt://host[:port], mqtts://… */
	readonly backend: string;
	/** WebSocket: the bearer token. Empty when the backend asks for none. */
	readonly token: string;
	/** WebSocket: framing of binary audio. */
	readonly protocolVersion: 1 | 2 | 3;
	/** MQTT: the client id. Default: the device's MAC address. */
	readonly clientId: string;
	/** MQTT: empty for none. Named so because `password`, on mcconfig's command line, is the Wi-Fi's. */
	readonly mqttUsername: string;
	readonly mqttPassword: string;
	/** MQTT: seconds. Default 240. */
	readonly keepAlive: number;
	/** MQTT: where the device's messages go. Default: xs-mcp/CLIENT_ID/up. */
	readonly publishTopic: string;
	/** MQTT: where the backend's come from; empty where it pushes without a subscription. Default: xs-mcp/CLIENT_ID/down. */
	readonly subscribeTopic: string;
	/** MQTT: quality of service. */
	readonly qos: 0 | 1;
	/** Bytes of the machine's chunk heap, as the manifest's `creation` has them. They set what a message may have. */
	readonly chunkBytes: number;
	/** MQTT: whether the broker is given a last will. Default: only if the topic is this project's. */
	readonly lastWill: boolean | undefined;
	/** Whether the device is always in a session, and so can be called, or only while it or the backend needs one. */
	readonly session: SessionPolicy;
	/** What clients are told as the device's name. Default: the board's. */
	readonly name: string | undefined;
	/** The device's UUID. Default: the one that is kept, or made. */
	readonly uuid: string | undefined;
}

/** A machine whose heap is not known is taken for one with ample memory, such as this computer's. */
const AMPLE_CHUNK_BYTES = 524_288;

const uuidPattern = (): RegExp => /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Characters that a device's name may have. */
const LONGEST_NAME = 32;

/** With less than this the firmware cannot work. */
const SMALLEST_CHUNK_BYTES = 32_768;

/**
 * Reads the configuration: a stored setting if there is one, else what the firmware was built with.
 *
 * @param deviceId the device's MAC address
 * @param served what a bootstrap says of its backend: it wins over both
 * @throws ProtocolError "bad-config" that names the setting
 */
export function readConfig(
	built: Readonly<Record<string, unknown>>,
	settings: Pick<Settings, "get"> | undefined,
	deviceId: string,
	served: Readonly<Record<string, unknown>> = {},
): Config {
	const read = (key: string): unknown => served[key] ?? readSetting(key, built, settings);
	const clientId = text("clientId", read("clientId") ?? deviceId);
	return {
		backend: text("backend", read("backend")),
		token: secret("token", read("token") ?? ""),
		protocolVersion: number("protocolVersion", read("protocolVersion") ?? 1, [1, 2, 3]),
		clientId,
		mqttUsername: text("mqttUsername", read("mqttUsername") ?? ""),
		mqttPassword: secret("mqttPassword", read("mqttPassword") ?? ""),
		keepAlive: seconds("keepAlive", read("keepAlive") ?? 240),
		publishTopic: text("publishTopic", read("publishTopic") ?? `xs-mcp/${clientId}/up`),
		subscribeTopic: text("subscribeTopic", read("subscribeTopic") ?? `xs-mcp/${clientId}/down`),
		qos: number("qos", read("qos") ?? 0, [0, 1]),
		chunkBytes: bytes("chunkBytes", built.chunkBytes ?? AMPLE_CHUNK_BYTES),
		lastWill: flag("lastWill", read("lastWill")),
		session: oneOf("session", read("session") ?? "always", ["always", "on-demand"]),
		name: name("name", read("name")),
		uuid: uuid("uuid", read("uuid")),
	};
}

function text(key: string, value: unknown): string {
	if (typeof value !== "string") {
		throw bad(key, "a string", value);
	}
	return value;
}

/** What is wrong with it is told without it: it would stand in the log and on the screen. */
function secret(key: string, value: unknown): string {
	if (typeof value !== "string") {
		throw new ProtocolError("bad-config", `${key}: expected a string, got ${typeof value}`);
	}
	return value;
}

/** On the command line of mcconfig every value is a string; MQTT has 16 bits for it. */
function seconds(key: string, value: unknown): number {
	const number = Number(value);
	if (!Number.isInteger(number) || number < 1 || number > 65_535) {
		throw bad(key, "whole seconds from 1 to 65535", value);
	}
	return number;
}

function bytes(key: string, value: unknown): number {
	const number = Number(value);
	if (!Number.isInteger(number) || number < SMALLEST_CHUNK_BYTES) {
		throw bad(key, `whole bytes, at least ${SMALLEST_CHUNK_BYTES}`, value);
	}
	return number;
}

/** As above, a number may be a string. */
function number<const T extends number>(key: string, value: unknown, choices: readonly T[]): T {
	const choice = choices.find((each) => String(each) === String(value));
	if (choice === undefined) {
		throw bad(key, choices.join(" or "), value);
	}
	return choice;
}

function oneOf<const T>(key: string, value: unknown, choices: readonly T[]): T {
	const choice = choices.find((each) => each === value);
	if (choice === undefined) {
		throw bad(key, choices.map((each) => JSON.stringify(each)).join(" or "), value);
	}
	return choice;
}

/** A string on the command line, as above. */
function flag(key: string, value: unknown): boolean | undefined {
	return value === undefined ? undefined : oneOf(key, String(value), ["true", "false"]) === "true";
}

function name(key: string, value: unknown): string | undefined {
	if (value !== undefined && !(typeof value === "string" && value.length <= LONGEST_NAME)) {
		throw bad(key, `at most ${LONGEST_NAME} characters`, value);
	}
	return value === "" ? undefined : value;
}

/** A UUID in its usual form. Backends sign tokens over it, so it is kept as it is written. */
function uuid(key: string, value: unknown): string | undefined {
	if (value !== undefined && !(typeof value === "string" && uuidPattern().test(value))) {
		throw bad(key, "a UUID such as 123e4567-e89b-42d3-a456-426614174000", value);
	}
	return value;
}

function bad(key: string, expected: string, value: unknown): ProtocolError {
	return new ProtocolError("bad-config", `${key}: expected ${expected}, got ${JSON.stringify(value)}`);
}
