import mqtt from "mqtt";
import type { Server } from "xs-mcp-manager/core";
import { readPem } from "../config/listen-address.js";
import { reportOutages } from "../devices/external-broker.js";
import type { RunningGateway } from "../gateway.js";
import type { DeviceStatus } from "../history/device-status.js";
import { history } from "../history/plugin.js";
import { callTool, findTool } from "../speech/device-tools.js";
import { speech } from "../speech/plugin.js";
import { ALL_COMMANDS, ANNOUNCE, describeDevice, describeState, keyOf, ROOT, topicsOf } from "./discovery.js";
import { type Entities, readCommand, readEntities } from "./entities.js";

/**
 * Shows devices in Home Assistant, by MQTT discovery. Connects, and keeps reconnecting. Changes in the registry
 * are published; a device's status is read when something has happened to it.
 *
 * @returns a function that marks every device as unavailable in Home Assistant, and disconnects
 */
export function showInHomeAssistant(gateway: RunningGateway, url: string): () => Promise<void> {
	const { servers } = gateway;
	const { statuses } = gateway.use(history);
	const devices = new Map<string, HomeDevice>();
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
		const added = showDevice(gateway, server, broker);
		devices.set(key, added);
		return added;
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
	servers.on("changed", changed).on("state", (server) => deviceOf(server)?.publish());
	statuses.readAfterChanges(({ configured }) => !configured);
	statuses.on("reported", (server, _reported, status) => status && deviceOf(server)?.keep(status));
	statuses.on("read", (server, problem) => deviceOf(server)?.keep(undefined, problem));
	changed();
	return async () => {
		devices.forEach((device) => void device.close());
		await broker.close();
	};
}

/** Caller and kind of warning in the log and the console. */
const PRINCIPAL = "home-assistant";

/** Bytes of a text to say. */
const MAX_ANNOUNCEMENT = 1_000;

/** A device in Home Assistant. */
type HomeDevice = ReturnType<typeof showDevice>;

/** Shows a device in Home Assistant. */
function showDevice(gateway: RunningGateway, server: Server, broker: Broker) {
	const topics = topicsOf(keyOf(server.id));
	const { statuses } = gateway.use(history);
	/** Says texts. Undefined: the gateway has no voice. */
	const announcements = gateway.use(speech).voice?.announcements;
	/** Undefined until its status was first read. */
	let entities: Entities | undefined;
	/** Topics of the lights' states that the broker retains. */
	let lights: readonly string[] = [];
	/** The record of its last discovery message. */
	let record: Server["record"] | undefined;
	let isForgotten = false;

	const warn = (message: string): void =>
		gateway.limitedLog.warn(PRINCIPAL, { device: server.id }, `Home Assistant: ${message}`);

	const publish = (): void => {
		if (isForgotten || !server.known) {
			return;
		}
		broker.retain(topics.availability, server.online ? "online" : "offline");
		if (entities === undefined) {
			return;
		}
		const offers = (tool: string): boolean => findTool(server, tool) !== undefined;
		const described = describeDevice(server, entities, offers, announcements !== undefined, broker.gatewayTopic);
		broker.retain(topics.config, JSON.stringify(described));
		broker.retain(topics.state, JSON.stringify(describeState(entities, server.state)));
		const shown = [...entities.values()].filter(({ config }) => config.platform === "light");
		const states = new Map(shown.map(({ topic = "", value }) => [topics.stateOf(topic), JSON.stringify(value)]));
		for (const topic of new Set([...lights, ...states.keys()])) {
			broker.retain(topic, states.get(topic) ?? "");
		}
		lights = [...states.keys()];
	};

	const carryOut = async (part: string, payload: Buffer): Promise<void> => {
		const caller = { principal: PRINCIPAL, signal: new AbortController().signal };
		if (part === ANNOUNCE && announcements !== undefined) {
			const text = payload.subarray(0, MAX_ANNOUNCEMENT).toString();
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
		await callTool(server, tool, args, caller);
	};

	/** Publishes nothing from now on. */
	const close = (): void => {
		isForgotten = true;
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
		/** Publishes a status of the device; undefined if it was not read. */
		keep(status: DeviceStatus | undefined, problem?: Error): void {
			if (problem !== undefined) {
				warn(`status not read: ${problem.message}`);
			}
			const known = entities ?? new Map();
			entities = status === undefined ? known : readEntities(status, known);
			publish();
		},
		/** Carries out a command of Home Assistant's. What fails is logged. */
		async handleCommand(part: string, payload: Buffer): Promise<void> {
			await carryOut(part, payload).catch(({ message }: Error) => warn(`command for ${part} failed: ${message}`));
			// Home Assistant shows the actual state, also after a failed command.
			statuses.readChanged(server);
		},
		/** Removes it from Home Assistant. */
		forget(): void {
			close();
			for (const topic of [topics.config, topics.availability, topics.state, ...lights]) {
				broker.retain(topic, "");
			}
		},
		close,
	};
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
