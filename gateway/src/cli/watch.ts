import { printableLine } from "../log/printable.js";
import type { GatewayEvent } from "../operator/events.js";
import type { GatewayClient } from "./gateway-client.js";
import { eventsIn } from "./http-request.js";
import { print } from "./output.js";

/** Prints the events of a gateway. Rejects when the stream ends. */
export async function watchGateway(gateway: GatewayClient, json: boolean): Promise<void> {
	const response = await gateway.open("/events");
	try {
		for await (const data of eventsIn(response)) {
			if (json) {
				print(data);
				continue;
			}
			const event = JSON.parse(data) as GatewayEvent;
			print(printableLine(`${event.time}  ${event.alias ?? event.device}  ${event.type}  ${detailsOf(event)}`));
		}
	} catch (error) {
		throw new Error("lost the connection to the gateway", { cause: error });
	}
	throw new Error("the gateway closed the event stream");
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
