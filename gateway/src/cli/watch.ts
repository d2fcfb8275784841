import { printableLine } from "../log/printable.js";
import type { GatewayEvent } from "../operator/events.js";
import type { GatewayClient } from "./gateway-client.js";
import { eventsIn } from "./http-request.js";
import { print } from "./output.js";

/** Poll interval for aliases, ms: a device has none before the gateway has discovered it. */
const ALIAS_INTERVAL = 1_000;

/** Prints the events of a gateway. Rejects when the stream ends. */
export async function watchGateway(gateway: GatewayClient, json: boolean): Promise<void> {
	const response = await gateway.open("/events");
	const aliases = new Aliases(gateway);
	try {
		for await (const data of eventsIn(response)) {
			if (json) {
				print(data);
			} else {
				const event = JSON.parse(data) as GatewayEvent;
				print(describeEvent(event, await aliases.of(event.device)));
			}
		}
	} catch (error) {
		throw new Error("lost the connection to the gateway", { cause: error });
	}
	throw new Error("the gateway closed the event stream");
}

/** The aliases of devices, from the gateway. */
class Aliases {
	readonly #gateway: GatewayClient;
	#known: ReadonlyMap<string, string> = new Map();
	#asked = Number.NEGATIVE_INFINITY;

	constructor(gateway: GatewayClient) {
		this.#gateway = gateway;
	}

	/** The alias, or else the id. */
	async of(id: string): Promise<string> {
		if (!this.#known.has(id) && performance.now() - this.#asked > ALIAS_INTERVAL) {
			this.#asked = performance.now();
			const devices = await this.#gateway.devices();
			this.#known = new Map(devices.map((device) => [device.id, device.alias]));
		}
		return this.#known.get(id) ?? id;
	}
}

function describeEvent(event: GatewayEvent, name: string): string {
	return printableLine(`${event.time}  ${name}  ${event.type}  ${detailsOf(event)}`);
}

function detailsOf(event: GatewayEvent): string {
	switch (event.type) {
		case "connected":
			return event.transport;
		case "disconnected":
			return event.reason;
		case "notification":
			return `${event.method} ${JSON.stringify(event.params)}`;
		case "firmware":
			return `firmware ${event.version} ${event.step}`;
		case "call":
			return `${event.tool} by ${event.principal}: ${event.outcome} in ${event.duration.toFixed(1)} ms`;
	}
}
