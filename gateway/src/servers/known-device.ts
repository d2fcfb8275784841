import { isObject } from "../../../src/text/is-object.js";
import type { Device, DeviceTool } from "./device.js";

/** What a device says of itself in `initialize`. */
export interface Board {
	readonly name: string;
	/** Of its firmware. */
	readonly version: string;
}

/** A device that the gateway has met, connected or away. */
export interface KnownDevice {
	/** The `Device-Id` header, or the MQTT client id. */
	readonly id: string;
	/** How hosts address it. No two devices share one. */
	readonly alias: string;
	readonly board: Board;
	/** All of them, in the device's order, user-only ones included. Replaced, never changed. */
	readonly tools: readonly DeviceTool[];
	/** When it was heard of for the last time, in milliseconds since 1970. While it is connected: when it came. */
	readonly lastSeen: number;
	/** Its session, where it is in one and its tools have been listed. */
	readonly device: Device | undefined;
}

/** What of a {@link KnownDevice} outlives the gateway. */
export type DeviceRecord = Omit<KnownDevice, "device">;

/** Whether only users may call a tool: not the models of hosts. */
export function isUserOnly({ annotations }: DeviceTool): boolean {
	const audience = isObject(annotations) ? annotations.audience : undefined;
	return Array.isArray(audience) && audience.length === 1 && audience[0] === "user";
}

/** Whether what was read from a file is a record. */
export function isDeviceRecord(value: unknown): value is DeviceRecord {
	return (
		isObject(value) &&
		typeof value.id === "string" &&
		typeof value.alias === "string" &&
		isObject(value.board) &&
		typeof value.board.name === "string" &&
		typeof value.board.version === "string" &&
		typeof value.lastSeen === "number" &&
		Array.isArray(value.tools) &&
		value.tools.every((tool) => isObject(tool) && typeof tool.name === "string" && isObject(tool.inputSchema))
	);
}
