import type { Engine, Message } from "./engine/engine.js";
import type { Environment } from "./environment.js";
import { ReceiveWindow } from "./receive-window.js";
import { type Chips, openChips } from "./services/chips.js";
import { openCodec } from "./services/codecs.js";
import { openConnections } from "./services/connections.js";
import { searchDnsSd } from "./services/dns-sd.js";
import { openHttpListeners } from "./services/http-listeners.js";
import { openHttpRequest } from "./services/http-requests.js";
import { openMqtt } from "./services/mqtt-sockets.js";
import type { FaultyClient } from "./services/network-faults.js";
import { openPins, type Pins } from "./services/pins.js";
import type { Deliver, Service } from "./services/service.js";
import { openBoard, type SimulatedBoard } from "./services/simulated-board.js";
import { playSounds } from "./services/sounds.js";
import { openTimers } from "./services/timers.js";
import { openUdp } from "./services/udp-sockets.js";
import { webSocketsOf } from "./services/websockets.js";

/** One run of the firmware on one engine: its services, and the messages between both, until it is closed. */
export class DeviceRun {
	readonly engine: Engine;
	readonly board: SimulatedBoard;
	readonly pins: Pins;
	readonly chips: Chips;
	readonly #environment: Environment;
	readonly #inbox = new ReceiveWindow((prefix, kind, id) => this.#service(prefix)?.take(kind, [id]));
	readonly #clients: readonly FaultyClient[];
	#services: readonly Service[];
	#isPumping = true;
	#isClosed = false;

	/** @param onRestart called if the firmware asks for a restart, after a delay in milliseconds */
	constructor(engine: Engine, environment: Environment, onRestart: (delay: number) => void) {
		this.engine = engine;
		this.#environment = environment;
		const deliver: Deliver = (message) => {
			this.#inbox.add(message);
			void this.#pump();
		};
		this.board = openBoard(deliver, environment, onRestart);
		this.pins = openPins(deliver, environment);
		this.chips = openChips(deliver, environment);
		this.#clients = environment.faults.open(
			[
				(tell) => openConnections("ws", webSocketsOf(environment.pageUrl), tell),
				(tell) => openConnections("mqtt", openMqtt, tell),
				(tell) => openConnections("http", openHttpRequest, tell),
			],
			deliver,
		);
		this.#services = [
			openTimers(deliver),
			...this.#clients,
			openHttpListeners(deliver, environment),
			openConnections("dnssd", searchDnsSd, deliver),
			environment.settings,
			this.board,
			this.pins,
			this.chips,
			openConnections("audio", playSounds(environment), deliver),
			openConnections("udp", openUdp, deliver),
			openCodec(deliver, environment),
		];
	}

	/** Starts the firmware. Rejects if it fails to start. */
	async boot(hostConfig: object, script: string): Promise<void> {
		try {
			await this.engine.run(`globalThis.hostConfig=${JSON.stringify(hostConfig)}`);
			this.#serve(await this.engine.run(script));
			for (const header of this.#environment.surroundings.values()) {
				this.board.tell(header);
			}
		} finally {
			this.#isPumping = false;
		}
		void this.#pump();
	}

	/** Its network clients, which neither read nor close their connections from now on. */
	abandonClients(): readonly Service[] {
		for (const client of this.#clients) {
			client.abandon();
		}
		this.#services = this.#services.filter((service) => !this.#clients.includes(service as FaultyClient));
		return this.#clients;
	}

	/** Ends the engine and its services. */
	close(): void {
		this.#isClosed = true;
		for (const service of this.#services) {
			service.close();
		}
		this.#services = [];
		this.engine.close();
	}

	/** Delivers waiting messages to the firmware, a window at a time, and handles its messages. */
	async #pump(): Promise<void> {
		if (this.#isPumping || this.#isClosed) {
			return;
		}
		this.#isPumping = true;
		try {
			for (let next = this.#inbox.take(); next.length > 0 && !this.#isClosed; next = this.#inbox.take()) {
				this.#serve(await this.engine.deliver(next));
			}
		} catch {
			// The engine has ended: `exited` has the reason, and the device handles it.
		} finally {
			this.#isPumping = false;
		}
	}

	#serve(messages: readonly Message[]): void {
		for (const { header, bytes } of messages) {
			if (!this.#inbox.heed(header)) {
				const [kind = "", ...args] = header as [string, ...unknown[]];
				const [prefix = "", name = ""] = kind.split(".", 2);
				this.#service(prefix)?.take(name, args, bytes);
			}
		}
	}

	#service(prefix: string): Service | undefined {
		return this.#services.find((service) => service.prefix === prefix);
	}
}
