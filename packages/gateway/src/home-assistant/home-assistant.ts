import pLimit from "p-limit";
import type { CallDetails, CallRecord, Notification, Server } from "xs-mcp-manager/core";
import type { RunningGateway } from "../gateway.js";
import { connectBroker } from "./broker.js";
import { keyOf, readCommandTopic } from "./discovery.js";
import { type HomeDevice, PRINCIPAL, STATUS_TOOL, showDevice } from "./home-device.js";

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
		const { key, part } = readCommandTopic(topic);
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
