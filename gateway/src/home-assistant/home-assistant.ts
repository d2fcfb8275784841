import {
	type CallDetails,
	type CallRecord,
	followStates,
	type Notification,
	type Server,
	type ServerRegistry,
} from "xs-mcp-manager/core";
import { BrokerConnection, type BrokerOptions } from "./broker-connection.js";
import { HomeDevice, type HomeDeviceOptions, readLimit, STATUS_TOOL } from "./home-device.js";
import { keyOf, readCommandTopic } from "./topics.js";

/**
 * Shows the devices of a registry in Home Assistant, by MQTT discovery. Changes in the registry are published; a device's
 * status is read when something has happened to it, never in intervals.
 */
export class HomeAssistant {
	readonly #servers: ServerRegistry;
	readonly #broker: BrokerConnection;
	readonly #devices = new Map<string, HomeDevice>();
	readonly #limit = readLimit();
	readonly #warn: BrokerOptions["warn"];
	readonly #announce: HomeDeviceOptions["announce"];
	readonly #unfollowStates: () => void;

	/** Connects, and keeps reconnecting. */
	constructor(
		servers: ServerRegistry,
		options: Omit<BrokerOptions, "onCommand"> & Pick<HomeDeviceOptions, "announce">,
	) {
		this.#servers = servers;
		this.#warn = options.warn;
		this.#announce = options.announce;
		this.#broker = new BrokerConnection({ ...options, onCommand: this.#handleCommand });
		servers.on("online", this.#online);
		this.#unfollowStates = followStates(servers, this.#stateChanged);
		servers.on("call", this.#called);
		servers.on("changed", this.#changed);
		this.#changed();
	}

	/** Marks every device as unavailable in Home Assistant. */
	async close(): Promise<void> {
		this.#servers.off("online", this.#online);
		this.#unfollowStates();
		this.#servers.off("call", this.#called);
		this.#servers.off("changed", this.#changed);
		this.#devices.forEach((device) => void device.close());
		await this.#broker.close();
	}

	readonly #online = (server: Server): void => this.#of(server)?.readSoon();

	readonly #stateChanged = (server: Server, cause?: Notification): void => {
		const device = this.#of(server);
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
	readonly #called = ({ serverId, outcome }: CallRecord, { tool, result }: CallDetails): void => {
		const device = this.#devices.get(keyOf(serverId));
		if (tool.name === STATUS_TOOL) {
			if (result !== undefined && outcome === "ok") {
				device?.keep(result);
			}
		} else if (tool.annotations?.readOnlyHint !== true) {
			device?.readSoon();
		}
	};

	/** Devices have become known, were forgotten, or have other names or tools. */
	readonly #changed = (): void => {
		const known = new Set<Server>(this.#servers.all);
		for (const [key, device] of this.#devices) {
			if (!known.has(device.server)) {
				device.forget();
				this.#devices.delete(key);
			}
		}
		known.forEach((server) => void this.#of(server)?.publishRecord());
	};

	readonly #handleCommand = (topic: string, payload: Buffer): void => {
		const { key, part } = readCommandTopic(topic);
		const device = this.#devices.get(key);
		if (device === undefined) {
			this.#warn({ topic }, "Home Assistant: command for an unknown device rejected");
		} else {
			void device.handleCommand(part, payload);
		}
	};

	/** The device of this server; undefined for a configured server. */
	#of(server: Server): HomeDevice | undefined {
		if (server.configured) {
			return undefined;
		}
		const key = keyOf(server.id);
		const device = this.#devices.get(key);
		if (device?.server === server) {
			return device;
		}
		// One that was forgotten and has come back is another object.
		device?.forget();
		const added = new HomeDevice(server, {
			broker: this.#broker,
			limit: this.#limit,
			warn: this.#warn,
			announce: this.#announce,
		});
		this.#devices.set(key, added);
		return added;
	}
}
