import { EventEmitter } from "node:events";
import type { Device } from "./device.js";

interface Events {
	connected: [device: Device];
	disconnected: [device: Device, reason: string];
	/** Something that came from the network was refused or dropped. */
	refused: [description: string];
}

/** The devices that are in a session now, whatever transport they came by, by their device id. */
export class DeviceHub extends EventEmitter<Events> {
	readonly #devices = new Map<string, Device>();

	/** Takes in a device whose session has begun. One with the same id is let go: it has come back by another connection. */
	add(device: Device): void {
		const { deviceId } = device.identity;
		this.#devices.get(deviceId)?.close("the device has connected again");
		this.#devices.set(deviceId, device);
		device.on("stray", (description) => this.refused(`${deviceId}: ${description}`));
		device.once("closed", (reason) => {
			if (this.#devices.get(deviceId) === device) {
				this.#devices.delete(deviceId);
			}
			this.emit("disconnected", device, reason);
		});
		this.emit("connected", device);
	}

	get(deviceId: string): Device | undefined {
		return this.#devices.get(deviceId);
	}

	/** Every device in a session. */
	get devices(): Device[] {
		return [...this.#devices.values()];
	}

	/** The next device whose session begins. */
	next(): Promise<Device> {
		return new Promise((resolve) => this.once("connected", resolve));
	}

	/** Tells whoever listens what was refused. */
	refused(description: string): void {
		this.emit("refused", description);
	}

	/** Ends every session. */
	close(): void {
		for (const device of this.devices) {
			device.close("the gateway is shutting down");
		}
	}
}
