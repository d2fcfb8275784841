import type { ServerIdentity } from "xs-mcp-manager/core";
import { DeviceTransport } from "../../../src/devices/device-transport.js";
import { NO_HELLO } from "../../../src/devices/hello.js";
import { parseMessage } from "../../../src/devices/messages.js";

/** The gateway's end of a device's connection. */
export interface DeviceWire {
	readonly send: (text: string) => void;
	readonly close: () => void;
}

/** A device's session over a simulated connection: what `devices/websocket.ts` does with a socket. */
export class LinkTransport extends DeviceTransport {
	readonly #wire: DeviceWire;

	constructor(identity: ServerIdentity, wire: DeviceWire) {
		super(identity, NO_HELLO);
		this.#wire = wire;
	}

	/** A message of the device has arrived. */
	received(text: string): void {
		this.receive(parseMessage(text));
	}

	protected override write(text: string): void {
		this.#wire.send(text);
	}

	protected override disconnect(): void {
		this.#wire.close();
	}
}
