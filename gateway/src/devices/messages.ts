import type { Envelope } from "../../../src/protocols/envelope.js";
import type { Device } from "../servers/device.js";
import type { DeviceHub } from "../servers/device-hub.js";

/** Milliseconds that a device has to show that it is there after all. */
const PROOF_TIMEOUT = 3_000;

/** Takes one message of a device in a session, whatever it came by. */
export function receiveFromDevice(hub: DeviceHub, device: Device, envelope: Envelope): void {
	const { type, session_id: id, payload } = envelope;
	if (id !== undefined && id !== device.sessionId) {
		hub.refused(`${device.identity.deviceId}: message for another session dropped`);
	} else if (type === "mcp") {
		device.receive(payload);
	} else if (type === "goodbye" && id !== undefined) {
		device.ended("the device said goodbye");
	} else if (type === "goodbye") {
		void closeUnlessThere(device);
	}
}

/**
 * A goodbye for no session in particular is what a broker says for a device that is gone. It may be late, and the
 * device back: only its answer tells.
 */
async function closeUnlessThere(device: Device): Promise<void> {
	try {
		await device.ping({ timeout: PROOF_TIMEOUT });
	} catch {
		device.ended("the device is gone");
	}
}
