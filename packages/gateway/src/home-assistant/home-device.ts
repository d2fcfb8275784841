import type { CallToolResult } from "@modelcontextprotocol/client";
import type { LimitFunction } from "p-limit";
import { isUserOnly, type Server, type ServerTool, textOf } from "xs-mcp-manager/core";
import type { RunningGateway } from "../gateway.js";
import { speech } from "../speech/plugin.js";
import type { Broker } from "./broker.js";
import { readCommand } from "./commands.js";
import { ANNOUNCE, describeDevice, describeLights, describeState, keyOf, topicsOf } from "./discovery.js";
import { NO_STATUS, readStatus, type Status, withSensor } from "./status.js";

export const STATUS_TOOL = "self.get_device_status";

/** Caller and kind of warning in the log and the console. */
export const PRINCIPAL = "home-assistant";

/** Milliseconds for which changes are collected before the status is read. */
const READ_DELAY = 500;

/** Bytes of a text to say. */
const MAX_ANNOUNCEMENT = 1_000;

/** A device in Home Assistant. */
export type HomeDevice = ReturnType<typeof showDevice>;

/** Shows a device in Home Assistant. `limit` bounds the status reads of all devices at the same time. */
export function showDevice(gateway: RunningGateway, server: Server, broker: Broker, limit: LimitFunction) {
	const key = keyOf(server.id);
	const topics = topicsOf(key);
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

	const findTool = (name: string): ServerTool | undefined =>
		server.tools.find((tool) => tool.name === name && !isUserOnly(tool));
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
		const { alias, title = alias, board, state } = server;
		const offers = (tool: string): boolean => findTool(tool) !== undefined;
		const shown = { key, title, board, state, status, offers, isAnnounced: announcements !== undefined };
		broker.retain(topics.config, JSON.stringify(describeDevice(shown, broker.gatewayTopic)));
		broker.retain(topics.state, JSON.stringify(describeState(shown)));
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
			const tool = findTool(STATUS_TOOL);
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
		const tool = findTool(name);
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
