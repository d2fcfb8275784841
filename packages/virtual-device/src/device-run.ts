import type { Engine, Message } from "./engine/engine.js";
import type { Environment } from "./environment.js";
import { makeReceiveWindow } from "./receive-window.js";
import { openChips } from "./services/chips.js";
import { openCodec } from "./services/codecs.js";
import { openConnections } from "./services/connections.js";
import { searchDnsSd } from "./services/dns-sd.js";
import { openHttpListeners } from "./services/http-listeners.js";
import { openHttpRequest } from "./services/http-requests.js";
import { openMqtt } from "./services/mqtt-sockets.js";
import type { FaultyClient } from "./services/network-faults.js";
import { openPins } from "./services/pins.js";
import type { Deliver, Service } from "./services/service.js";
import { openBoard } from "./services/simulated-board.js";
import { playSounds } from "./services/sounds.js";
import { openTimers } from "./services/timers.js";
import { openUdp } from "./services/udp-sockets.js";
import { webSocketsOf } from "./services/websockets.js";

/** One run of the firmware on one engine, until it is closed. */
export type DeviceRun = ReturnType<typeof openRun>;

/**
 * Opens the services of one run of the firmware, and passes messages between both.
 *
 * @param onRestart called if the firmware asks for a restart, after a delay in milliseconds
 */
export function openRun(engine: Engine, environment: Environment, onRestart: (delay: number) => void) {
	const inbox = makeReceiveWindow((prefix, kind, id) => service(prefix)?.take(kind, [id]));
	let isPumping = true;
	let isClosed = false;
	/** Resolves once the messages that waited were handled. */
	let pumped = Promise.resolve();
	const deliver: Deliver = (message) => {
		inbox.add(message);
		if (!isPumping) {
			pumped = pump();
		}
	};
	let services: readonly Service[] = [];
	const service = (prefix: string): Service | undefined => services.find((each) => each.prefix === prefix);
	/** Delivers waiting messages to the firmware, a window at a time, and handles its messages. */
	const pump = async (): Promise<void> => {
		if (isPumping || isClosed) {
			return;
		}
		isPumping = true;
		try {
			for (let next = inbox.take(); next.length > 0 && !isClosed; next = inbox.take()) {
				serve(await engine.deliver(next));
			}
		} catch {
			// The engine has ended: `exited` has the reason, and the device handles it.
		} finally {
			isPumping = false;
		}
	};

	const serve = (messages: readonly Message[]): void => {
		for (const { header, bytes } of messages) {
			if (!inbox.heed(header)) {
				const [kind = "", ...args] = header as [string, ...unknown[]];
				const [prefix = "", name = ""] = kind.split(".", 2);
				service(prefix)?.take(name, args, bytes);
			}
		}
	};

	const board = openBoard(deliver, environment, onRestart);
	const pins = openPins(deliver, environment);
	const chips = openChips(deliver, environment);
	const clients: readonly FaultyClient[] = environment.faults.open(
		[
			(tell) => openConnections("ws", webSocketsOf(environment.pageUrl), tell),
			(tell) => openConnections("mqtt", openMqtt, tell),
			(tell) => openConnections("http", openHttpRequest, tell),
		],
		deliver,
	);
	const timers = openTimers(deliver, () => pumped);
	services = [
		timers,
		...clients,
		openHttpListeners(deliver, environment),
		openConnections("dnssd", searchDnsSd, deliver),
		environment.settings,
		board,
		pins,
		chips,
		openConnections("audio", playSounds(environment), deliver),
		openConnections("udp", openUdp, deliver),
		openCodec(deliver, environment),
	];

	return {
		engine,
		board,
		pins,
		chips,
		timers,
		/** Starts the firmware. Rejects if it fails to start. */
		async boot(hostConfig: object, script: string): Promise<void> {
			try {
				await engine.run(`globalThis.hostConfig=${JSON.stringify(hostConfig)}`);
				serve(await engine.run(script));
				for (const header of environment.surroundings.values()) {
					board.tell(header);
				}
			} finally {
				isPumping = false;
			}
			pumped = pump();
		},
		/** Its network clients, which neither read nor close their connections from now on. */
		abandonClients(): readonly Service[] {
			for (const client of clients) {
				client.abandon();
			}
			services = services.filter((service) => !clients.includes(service as FaultyClient));
			return clients;
		},
		/** Ends the engine and its services. */
		close(): void {
			isClosed = true;
			for (const service of services) {
				service.close();
			}
			services = [];
			engine.close();
		},
	};
}
