import type { Engine, Message } from "./engine/engine.js";
import type { Environment } from "./environment.js";
import { hearThrough, openOpus } from "./services/codecs.js";
import { openHttpListeners, openHttpRequest } from "./services/http.js";
import { openMqtt } from "./services/mqtt-sockets.js";
import type { FaultyClient } from "./services/network-faults.js";
import { openChips, openPins } from "./services/pins.js";
import { type Deliver, makeService, openConnections, type Service } from "./services/service.js";
import { openBoard } from "./services/simulated-board.js";
import { openUdp, searchDnsSd, webSocketsOf } from "./services/sockets.js";
import { playSounds } from "./services/sounds.js";

/** Messages delivered to the firmware in one command. */
const MAX_MESSAGES = 10;

/** Bytes delivered in one command: by default as many as a chip's TCP stack holds unread. */
const MAX_BYTES = 5_744;

/** Bytes of one connection that wait here before its socket is paused. */
const MAX_WAITING_BYTES = 65_536;

/**
 * Queues messages for the firmware.
 *
 * While the firmware does not read from a connection, its data waits here, as in a chip's TCP stack, outside the
 * engine's heap. A socket is paused while the firmware does not read, and while too much of its data waits: a backend may be
 * faster than the engine.
 *
 * @param hold pauses or resumes the socket of a connection
 */
function makeReceiveWindow(hold: (prefix: string, kind: "pause" | "resume", id: unknown) => void) {
	let messages: Message[] = [];
	/** Connections from which the firmware does not read, and those whose sockets are paused: "ws.3". */
	const paused = new Set<string>();
	const held = new Set<string>();

	/** Whether a message has to wait. The end of an HTTP response must not overtake its body. */
	const isHeld = ({ header: [kind, id] }: Message): boolean => {
		const [prefix, what] = String(kind).split(".", 2);
		return (what === "data" || kind === "http.closed") && paused.has(`${prefix}.${id}`);
	};

	/** Pauses or resumes a connection's socket after a change in its queued data or in the firmware's reading. */
	const update = ([kind, id]: readonly unknown[]): void => {
		const [prefix = "", what] = String(kind).split(".", 2);
		const key = `${prefix}.${id}`;
		const ofConnection = messages.filter(({ header }) => header[0] === `${prefix}.data` && header[1] === id);
		const waiting = ofConnection.reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
		const shouldHold = what !== "close" && (paused.has(key) || waiting > MAX_WAITING_BYTES);
		if (shouldHold !== held.has(key)) {
			held[shouldHold ? "add" : "delete"](key);
			hold(prefix, shouldHold ? "pause" : "resume", id);
		}
	};

	return {
		add(message: Message): void {
			messages.push(message);
			update(message.header);
		},
		/** Notes whether the firmware reads from a connection. Returns whether the message was only about that. */
		heed(header: readonly unknown[]): boolean {
			const [prefix, what] = String(header[0]).split(".", 2);
			if (what === "pause" || what === "resume" || what === "close") {
				paused[what === "pause" ? "add" : "delete"](`${prefix}.${header[1]}`);
				update(header);
			}
			return what === "pause" || what === "resume";
		},
		/** The messages of the next command, in order; empty if the firmware reads none of the waiting ones. */
		take(): Message[] {
			const taken: Message[] = [];
			const left: Message[] = [];
			let bytes = 0;
			let isFull = false;
			for (const message of messages) {
				const size = message.bytes?.byteLength ?? 0;
				isFull ||= taken.length === MAX_MESSAGES || (bytes > 0 && bytes + size > MAX_BYTES);
				if (isFull || isHeld(message)) {
					left.push(message);
				} else {
					taken.push(message);
					bytes += size;
				}
			}
			messages = left;
			for (const { header } of taken) {
				update(header);
			}
			return taken;
		},
	};
}

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
		openConnections("microphone", hearThrough(environment), deliver),
		openConnections("opus", openOpus, deliver),
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

interface RunningTimer {
	/** When it fires, by the device's clock. */
	due: number;
	/** Undefined: it fires once. */
	readonly interval: number | undefined;
	handle: NodeJS.Timeout;
}

/**
 * Runs the firmware's timers.
 *
 * @param handled resolves once the firmware has handled all messages
 */
function openTimers(deliver: Deliver, handled: () => Promise<void>) {
	const running = new Map<number, RunningTimer>();
	/** Milliseconds by which the firmware's clock is ahead. */
	let ahead = 0;
	/** The device's clock while time passes. */
	let passing: number | undefined;
	const now = (): number => passing ?? Date.now() + ahead;
	const clear = (id: number): void => {
		clearTimeout(running.get(id)?.handle);
		running.delete(id);
	};
	const fire = (id: number): void => {
		const timer = running.get(id);
		if (timer?.interval === undefined) {
			clear(id);
		} else {
			start(id, Math.max(timer.due + timer.interval, now()), timer.interval);
		}
		deliver({ header: ["timer.fired", id] });
	};
	const start = (id: number, due: number, interval: number | undefined): void => {
		clear(id);
		running.set(id, { due, interval, handle: setTimeout(fire, due - now(), id) });
	};
	const setClock = (time: number, isStopped: boolean): void => deliver({ header: ["time.now", time, isStopped] });
	const handlers = {
		set: ([id, delay, repeats]: [number, number, boolean]) => start(id, now() + delay, repeats ? delay : undefined),
		clear: ([id]: [number]) => clear(id),
	};
	return {
		...makeService("timer", handlers, () => [...running.keys()].forEach(clear)),
		/** Lets time pass for the firmware at once: its timers fire in order, and its clock shows the due time of each. */
		async pass(milliseconds: number): Promise<void> {
			await handled();
			const end = now() + milliseconds;
			passing = now();
			for (let next = firstDue(running, end); next !== undefined; next = firstDue(running, end)) {
				passing = Math.max(passing, next.due);
				setClock(passing, true);
				fire(next.id);
				await handled();
			}
			ahead = end - Date.now();
			passing = undefined;
			setClock(end, false);
			for (const [id, { due, interval }] of [...running]) {
				start(id, due, interval);
			}
			await handled();
		},
	};
}

/** The next timer that is due until a time; undefined if there is none. */
function firstDue(running: ReadonlyMap<number, RunningTimer>, end: number) {
	const timers = [...running].map(([id, { due }]) => ({ id, due })).filter(({ due }) => due <= end);
	return timers.sort((one, other) => one.due - other.due || one.id - other.id)[0];
}
