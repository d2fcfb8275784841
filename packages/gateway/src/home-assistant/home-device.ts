import type { CallToolResult } from "@modelcontextprotocol/client";
import type { LimitFunction } from "p-limit";
import { isUserOnly, type Server, type ServerTool, textOf } from "xs-mcp-manager/core";
import type { RunningGateway } from "../gateway.js";
import type { Announcements } from "../speech/announcements.js";
import { speech } from "../speech/plugin.js";
import type { Broker } from "./broker.js";
import { readCommand } from "./commands.js";
import { ANNOUNCE, describeDevice, describeLights, describeState } from "./discovery.js";
import { NO_STATUS, readStatus, type Status, withSensor } from "./status.js";
import { keyOf, topicsOf } from "./topics.js";

export const STATUS_TOOL = "self.get_device_status";

/** Caller and kind of warning in the log and the console. */
export const PRINCIPAL = "home-assistant";

/** Milliseconds for which changes are collected before the status is read. */
const READ_DELAY = 500;

/** Bytes of a text to say. */
const MAX_ANNOUNCEMENT = 1_000;

/** A device in Home Assistant. */
export class HomeDevice {
	readonly server: Server;
	readonly #gateway: RunningGateway;
	readonly #broker: Broker;
	readonly #limit: LimitFunction;
	/** Says texts. Undefined: the gateway has no voice. */
	readonly #announcements: Announcements | undefined;
	readonly #topics: ReturnType<typeof topicsOf>;
	/** Undefined until it was first asked: its entities are not known. */
	#status: Status | undefined;
	/** Topics of the lights whose states the broker retains. */
	readonly #lights = new Set<string>();
	/** The record of its last discovery message. */
	#record: Server["record"] | undefined;
	/** Set until the read that it begins has ended. */
	#timer: NodeJS.Timeout | undefined;
	/** Whether another read is needed after the current one. */
	#isStale = false;
	#isForgotten = false;

	constructor(gateway: RunningGateway, server: Server, broker: Broker, limit: LimitFunction) {
		this.server = server;
		this.#gateway = gateway;
		this.#broker = broker;
		this.#limit = limit;
		this.#announcements = gateway.use(speech).voice?.announcements;
		this.#topics = topicsOf(keyOf(server.id));
	}

	/** Publishes changes. */
	publish(): void {
		const broker = this.#broker;
		const { server } = this;
		const status = this.#status;
		if (this.#isForgotten || !server.known) {
			return;
		}
		broker.retain(this.#topics.availability, server.online ? "online" : "offline");
		if (status === undefined) {
			return;
		}
		const { alias, board, state } = server;
		const offers = (tool: string): boolean => this.#find(tool) !== undefined;
		const isAnnounced = this.#announcements !== undefined;
		const shown = { key: keyOf(server.id), alias, board, state, status, offers, isAnnounced };
		broker.retain(this.#topics.config, JSON.stringify(describeDevice(shown, broker.gatewayTopic)));
		broker.retain(this.#topics.state, JSON.stringify(describeState(shown)));
		const lights = describeLights(status);
		for (const light of [...this.#lights].filter((each) => !lights.has(each))) {
			broker.retain(this.#topics.stateOf(light), "");
			this.#lights.delete(light);
		}
		for (const [light, shownState] of lights) {
			broker.retain(this.#topics.stateOf(light), JSON.stringify(shownState));
			this.#lights.add(light);
		}
	}

	/** Publishes its discovery message again if its record has changed. */
	publishRecord(): void {
		if (this.#record !== this.server.record) {
			this.#record = this.server.record;
			this.publish();
		}
	}

	/** Its status tool has answered, to Home Assistant or another client. */
	keep(result: CallToolResult): void {
		this.#status = readStatus(result, this.#status ?? NO_STATUS) ?? this.#status;
		this.publish();
	}

	/** It has sent `notifications/sensor_changed`. */
	sensorChanged(params: Readonly<Record<string, unknown>>): void {
		this.#status &&= withSensor(this.#status, params);
		this.publish();
	}

	/** Reads its status soon: something may have changed. */
	readSoon(): void {
		this.#isStale = true;
		this.#timer ??= setTimeout(() => void this.#limit(() => this.#read()), READ_DELAY).unref();
	}

	/** Carries out a command of Home Assistant's. What fails is logged. */
	async handleCommand(part: string, payload: Buffer): Promise<void> {
		const announcements = this.#announcements;
		try {
			if (part === ANNOUNCE && announcements !== undefined) {
				const text = payload.subarray(0, MAX_ANNOUNCEMENT).toString();
				const caller = { principal: PRINCIPAL, signal: new AbortController().signal };
				const [said] = await announcements.say({ text }, [this.server], caller);
				if (said?.outcome === "failed") {
					throw new Error(said.reason);
				}
			} else {
				const { tool: name, args } = readCommand(part, payload);
				const tool = this.#find(name);
				if (tool === undefined) {
					throw new Error(`${this.server.alias} has no tool ${name}`);
				}
				const { isError, content } = (await this.server.call(tool, args, { principal: PRINCIPAL })) as CallToolResult;
				if (isError) {
					throw new Error(textOf(content));
				}
			}
		} catch (error) {
			this.#warn(`command for ${part} failed: ${(error as Error).message}`);
		}
		// Home Assistant shows the actual state, also after a failed command.
		this.readSoon();
	}

	/** Removes it from Home Assistant. */
	forget(): void {
		this.close();
		const { config, availability, state, stateOf } = this.#topics;
		const lights = [...this.#lights].map((light) => stateOf(light));
		for (const topic of [config, availability, state, ...lights]) {
			this.#broker.retain(topic, "");
		}
	}

	/** Publishes nothing from now on. */
	close(): void {
		this.#isForgotten = true;
		clearTimeout(this.#timer);
	}

	/** One read at a time: a device may be slow to answer, and quick to report changes. */
	async #read(): Promise<void> {
		this.#isStale = false;
		if (!this.#isForgotten && this.server.online) {
			const tool = this.#find(STATUS_TOOL);
			try {
				// The registry reports the answer, as it reports answers to other clients.
				await (tool && this.server.call(tool, {}, { principal: PRINCIPAL }));
			} catch (error) {
				this.#warn(`status not read: ${(error as Error).message}`);
			}
			this.#status ??= NO_STATUS;
			this.publish();
		}
		this.#timer = undefined;
		if (this.#isStale) {
			this.readSoon();
		}
	}

	#find(name: string): ServerTool | undefined {
		return this.server.tools.find((tool) => tool.name === name && !isUserOnly(tool));
	}

	#warn(message: string): void {
		this.#gateway.limitedLog.warn(PRINCIPAL, { device: this.server.id }, `Home Assistant: ${message}`);
	}
}
