import type { CallToolResult } from "@modelcontextprotocol/client";
import mqtt from "mqtt";
import pLimit, { type LimitFunction } from "p-limit";
import { type CallDetails, type CallRecord, jsonIn, type Notification, type Server, textOf } from "xs-mcp-manager/core";
import * as z from "zod";
import { readPem } from "../config/listen-address.js";
import { reportOutages } from "../devices/external-broker.js";
import type { RunningGateway } from "../gateway.js";
import { findTool } from "../speech/device-tools.js";
import { speech } from "../speech/plugin.js";
import {
	ALL_COMMANDS,
	ANNOUNCE,
	describeDevice,
	describeLights,
	describeState,
	keyOf,
	ROOT,
	TOOLS,
	topicsOf,
} from "./discovery.js";
import { NO_STATUS, readStatus, SHOWN_KINDS, type Status, withSensor } from "./status.js";

const MAX_READS = 16;

/**
 * Shows devices in Home Assistant, by MQTT discovery. Connects, and keeps reconnecting. Changes in the registry
 * are published; a device's status is read when something has happened to it, never in intervals.
 *
 * @returns a function that marks every device as unavailable in Home Assistant, and disconnects
 */
export function showInHomeAssistant(gateway: RunningGateway, url: string): () => Promise<void> {
	const { servers } = gateway;
	const devices = new Map<string, HomeDevice>();
	const limit = pLimit(MAX_READS);
	const broker = connectBroker(gateway, url, (topic, payload) => {
		const [, key = "", part = ""] = topic.split("/");
		const device = devices.get(key);
		if (device === undefined) {
			gateway.limitedLog.warn(PRINCIPAL, { topic }, "Home Assistant: command for an unknown device rejected");
		} else {
			void device.handleCommand(part, payload);
		}
	});
	const deviceOf = (server: Server): HomeDevice | undefined => {
		if (server.configured) {
			return undefined;
		}
		const key = keyOf(server.id);
		const device = devices.get(key);
		if (device?.server === server) {
			return device;
		}
		// One that was forgotten and has come back is another object.
		device?.forget();
		const added = showDevice(gateway, server, broker, limit);
		devices.set(key, added);
		return added;
	};
	const online = (server: Server): void => deviceOf(server)?.readSoon();
	const stateChanged = (server: Server, cause?: Notification): void => {
		const device = deviceOf(server);
		if (cause?.method === "notifications/sensor_changed") {
			device?.sensorChanged(cause.params);
		} else {
			device?.publish();
			if (cause !== undefined) {
				device?.readSoon();
			}
		}
	};
	/** Calls by other clients show or change a device's status. */
	const called = ({ serverId, outcome }: CallRecord, { tool, result }: CallDetails): void => {
		const device = devices.get(keyOf(serverId));
		if (tool.name === STATUS_TOOL) {
			if (result !== undefined && outcome === "ok") {
				device?.keep(result);
			}
		} else if (tool.annotations?.readOnlyHint !== true) {
			device?.readSoon();
		}
	};
	/** Devices have become known, were forgotten, or have other names or tools. */
	const changed = (): void => {
		const known = new Set<Server>(servers.all);
		for (const [key, device] of devices) {
			if (!known.has(device.server)) {
				device.forget();
				devices.delete(key);
			}
		}
		known.forEach((server) => void deviceOf(server)?.publishRecord());
	};
	servers.on("online", online).on("call", called).on("changed", changed).on("state", stateChanged);
	changed();
	return async () => {
		servers.off("online", online).off("call", called).off("changed", changed).off("state", stateChanged);
		devices.forEach((device) => void device.close());
		await broker.close();
	};
}

const STATUS_TOOL = "self.get_device_status";

/** Caller and kind of warning in the log and the console. */
const PRINCIPAL = "home-assistant";

/** Milliseconds for which changes are collected before the status is read. */
const READ_DELAY = 500;

/** Bytes of a text to say. */
const MAX_ANNOUNCEMENT = 1_000;

/** A device in Home Assistant. */
type HomeDevice = ReturnType<typeof showDevice>;

/** Shows a device in Home Assistant. `limit` bounds the status reads of all devices at the same time. */
function showDevice(gateway: RunningGateway, server: Server, broker: Broker, limit: LimitFunction) {
	const topics = topicsOf(keyOf(server.id));
	/** Says texts. Undefined: the gateway has no voice. */
	const announcements = gateway.use(speech).voice?.announcements;
	/** Undefined until it was first asked: its entities are not known. */
	let status: Status | undefined;
	/** Topics of the lights whose states the broker retains. */
	const lights = new Set<string>();
	/** The record of its last discovery message. */
	let record: Server["record"] | undefined;
	/** Set until the read that it starts has ended. */
	let timer: NodeJS.Timeout | undefined;
	/** Whether another read is needed after the current one. */
	let isStale = false;
	let isForgotten = false;

	const warn = (message: string): void =>
		gateway.limitedLog.warn(PRINCIPAL, { device: server.id }, `Home Assistant: ${message}`);

	const publish = (): void => {
		if (isForgotten || !server.known) {
			return;
		}
		broker.retain(topics.availability, server.online ? "online" : "offline");
		if (status === undefined) {
			return;
		}
		const offers = (tool: string): boolean => findTool(server, tool) !== undefined;
		const described = describeDevice(server, status, offers, announcements !== undefined, broker.gatewayTopic);
		broker.retain(topics.config, JSON.stringify(described));
		broker.retain(topics.state, JSON.stringify(describeState(status, server.state)));
		const states = describeLights(status);
		for (const light of [...lights].filter((each) => !states.has(each))) {
			broker.retain(topics.stateOf(light), "");
			lights.delete(light);
		}
		for (const [light, shownState] of states) {
			broker.retain(topics.stateOf(light), JSON.stringify(shownState));
			lights.add(light);
		}
	};

	/** One read at a time: a device may be slow to answer, and quick to report changes. */
	const read = async (): Promise<void> => {
		isStale = false;
		if (!isForgotten && server.online) {
			const tool = findTool(server, STATUS_TOOL);
			try {
				// The registry reports the answer, as it reports answers to other clients.
				await (tool && server.call(tool, {}, { principal: PRINCIPAL }));
			} catch (error) {
				warn(`status not read: ${(error as Error).message}`);
			}
			status ??= NO_STATUS;
			publish();
		}
		timer = undefined;
		if (isStale) {
			readSoon();
		}
	};

	/** Reads its status soon: something may have changed. */
	const readSoon = (): void => {
		isStale = true;
		timer ??= setTimeout(() => void limit(read), READ_DELAY).unref();
	};

	const carryOut = async (part: string, payload: Buffer): Promise<void> => {
		if (part === ANNOUNCE && announcements !== undefined) {
			const text = payload.subarray(0, MAX_ANNOUNCEMENT).toString();
			const caller = { principal: PRINCIPAL, signal: new AbortController().signal };
			const [said] = await announcements.say({ text }, [server], caller);
			if (said?.outcome === "failed") {
				throw new Error(said.reason);
			}
			return;
		}
		const { tool: name, args } = readCommand(part, payload);
		const tool = findTool(server, name);
		if (tool === undefined) {
			throw new Error(`${server.alias} has no tool ${name}`);
		}
		const { isError, content } = (await server.call(tool, args, { principal: PRINCIPAL })) as CallToolResult;
		if (isError) {
			throw new Error(textOf(content));
		}
	};

	/** Publishes nothing from now on. */
	const close = (): void => {
		isForgotten = true;
		clearTimeout(timer);
	};

	return {
		server,
		publish,
		/** Publishes its discovery message again if its record has changed. */
		publishRecord(): void {
			if (record !== server.record) {
				record = server.record;
				publish();
			}
		},
		/** Publishes an answer of its status tool, to Home Assistant or another client. */
		keep(result: CallToolResult): void {
			status = readStatus(result, status ?? NO_STATUS) ?? status;
			publish();
		},
		/** Publishes the value in a `notifications/sensor_changed`. */
		sensorChanged(params: Readonly<Record<string, unknown>>): void {
			status &&= withSensor(status, params);
			publish();
		},
		readSoon,
		/** Carries out a command of Home Assistant's. What fails is logged. */
		async handleCommand(part: string, payload: Buffer): Promise<void> {
			await carryOut(part, payload).catch(({ message }: Error) => warn(`command for ${part} failed: ${message}`));
			// Home Assistant shows the actual state, also after a failed command.
			readSoon();
		},
		/** Removes it from Home Assistant. */
		forget(): void {
			close();
			const states = [...lights].map((light) => topics.stateOf(light));
			for (const topic of [topics.config, topics.availability, topics.state, ...states]) {
				broker.retain(topic, "");
			}
		},
		close,
	};
}

/** Bytes of a command: Home Assistant's have about 80. */
const MAX_COMMAND = 1_024;

const CHANNEL = z.int().min(0).max(255);
const LIGHT_COMMAND = z.object({
	state: z.enum(["ON", "OFF"]),
	brightness: z.int().optional(),
	color: z.object({ r: CHANNEL, g: CHANNEL, b: CHANNEL }).optional(),
});

/**
 * Reads a command of Home Assistant's, as a call of a device's tool. The tool's schema checks the ranges.
 *
 * @param part of the device, as in the command's topic
 * @throws Error if the command is malformed
 */
function readCommand(part: string, payload: Buffer): { readonly tool: string; readonly args: object } {
	if (payload.length > MAX_COMMAND) {
		throw new Error(`command too long (limit ${MAX_COMMAND} bytes)`);
	}
	const text = payload.toString();
	const refuse = (expected: string): never => {
		throw new Error(`expected ${expected}, got ${JSON.stringify(text.slice(0, 64))}`);
	};
	if (part === "volume" || part === "brightness") {
		const value = /^\d{1,3}(\.0+)?$/.test(text) ? Number(text) : refuse("a number from 0 to 100");
		return { tool: TOOLS[part], args: { [part]: value } };
	}
	const shown = SHOWN_KINDS.find(({ kind }) => part.startsWith(`${kind.name}-`));
	if (shown === undefined) {
		throw new Error(`unknown part ${JSON.stringify(part)}`);
	}
	const { kind, component, tool, value } = shown;
	const call = (args: object) => ({
		tool: tool.name,
		args: { [tool.part]: part.slice(kind.name.length + 1), ...args },
	});
	switch (component) {
		case "light": {
			const { state, brightness, color } =
				LIGHT_COMMAND.safeParse(jsonIn(text)).data ?? refuse("a command for a light");
			const channels = color && [color.r, color.g, color.b].map((each) => each.toString(16).padStart(2, "0"));
			return call({
				on: state === "ON",
				...(brightness !== undefined && { brightness }),
				...(channels && { color: `#${channels.join("")}` }),
			});
		}
		case "number":
			return call({ [value.name]: /^-?\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : refuse("a number") });
		case "switch":
			return call({ [value.name]: text === "ON" || (text !== "OFF" && refuse("ON or OFF")) });
	}
}

/** Retry interval for a broker that does not answer, ms. */
const RECONNECT_PERIOD = 2_000;

/** Home Assistant's broker. It retains messages: they are sent again after each connection. */
type Broker = ReturnType<typeof connectBroker>;

/**
 * Connects to Home Assistant's broker, and keeps reconnecting.
 *
 * @param onCommand called with each command, at most one in a turn of the event loop
 */
function connectBroker(
	{ log, limitedLog, settings, key }: RunningGateway,
	url: string,
	onCommand: (topic: string, payload: Buffer) => void,
) {
	const { homeAssistantPassword: password, homeAssistantCa: ca } = settings;
	const warn = (details: object, message: string): void => limitedLog.warn("home-assistant", details, message);
	const ownTopic = `${ROOT}/gateway/${key.derive("home-assistant").slice(0, 16)}`;
	/** Messages by topic. An empty one makes the broker forget the topic. */
	const retained = new Map<string, string>();
	const client = mqtt.connect(url, {
		...(password !== undefined && { password }),
		...(ca !== undefined && { ca: readPem("homeAssistantCa", ca) }),
		clean: true,
		reconnectPeriod: RECONNECT_PERIOD,
		reconnectOnConnackError: true,
		resubscribe: false,
		queueQoSZero: false,
		will: { topic: ownTopic, payload: Buffer.from("offline"), qos: 0, retain: true },
	});
	/** Messages that cannot be sent now are sent after the next connection. */
	const publish = (topic: string, text: string): void => {
		if (client.connected) {
			client.publish(topic, text, { retain: true });
			if (text === "") {
				retained.delete(topic);
			}
		}
	};
	/** Makes the broker retain a message, instead of the previous one. With an empty one it forgets the topic. */
	const retain = (topic: string, text: string): void => {
		if (retained.get(topic) !== text) {
			retained.set(topic, text);
			publish(topic, text);
		}
	};
	reportOutages(client, (problem) => warn({}, `Home Assistant's broker: ${problem}`));
	client.on("connect", () => {
		log.info("connected to Home Assistant's broker");
		client.subscribe(ALL_COMMANDS, { qos: 1 });
		retained.forEach((text, topic) => void publish(topic, text));
	});
	client.handleMessage = ({ topic, payload, retain: isRetained }, done) => {
		if (isRetained) {
			// It would be obeyed again after each connection.
			warn({ topic }, "Home Assistant: retained command rejected");
		} else {
			onCommand(topic, Buffer.from(payload));
		}
		setImmediate(done);
	};
	retain(ownTopic, "online");
	return {
		/** The topic that says whether the gateway is online. */
		gatewayTopic: ownTopic,
		retain,
		/** Marks every device of the gateway as unavailable in Home Assistant, and disconnects. */
		async close(): Promise<void> {
			publish(ownTopic, "offline");
			await client.endAsync(!client.connected);
		},
	};
}
