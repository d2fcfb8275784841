import { deepFreeze } from "../deep-freeze.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import { JsonLimitError } from "../text/parse-json.js";
import type { Sendable } from "../text/pieced-text.js";
import { Backoff, type BackoffOptions } from "./backoff.js";
import type { Channel, ChannelEvents } from "./channel.js";
import { decodeEnvelope, decodeStart, type Envelope, goodbyeMessage, type WantedNames } from "./envelope.js";
import { type AudioParams, DEFAULT_AUDIO, helloMessage, readHello, type Session } from "./hello.js";
import { ProtocolError } from "./protocol-error.js";
import type { Transport } from "./transport.js";

/** What the application hears of its connection to the backend. */
export interface ProtocolEvents {
	/** An attempt begins. */
	onConnecting(): void;
	/** Hellos are exchanged: MCP may begin. */
	onSession(session: Session): void;
	/** The payload of an MCP message. */
	onMcp(payload: unknown): void;
	/** An MCP message was too large to be read: the start of its payload, with a request's id, and what is wrong. */
	onRejected(payload: unknown, reason: string): void;
	/** A message of another type that the device knows: one of {@link APPLICATION_TYPES}. */
	onMessage(message: Envelope): void;
	/** An attempt failed, or the session ended. Another attempt follows in `retryIn` milliseconds. */
	onLost(error: ProtocolError, retryIn: number): void;
}

export interface ProtocolOptions {
	readonly events: ProtocolEvents;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
	readonly audio?: AudioParams;
	/** The members of MCP messages that are wanted. Default: all. */
	readonly names?: () => WantedNames;
	readonly backoff?: BackoffOptions;
	/** Milliseconds for the connection, and again for the backend's hello. Default 10,000. */
	readonly helloTimeout?: number;
}

/** Messages besides MCP that reach the application. */
export const APPLICATION_TYPES: readonly string[] = deepFreeze(["tts", "stt", "llm", "system", "alert", "custom"]);

/** A session that lasted this long was a good one: the next attempt begins with the shortest delay. */
const GOOD_SESSION = 10_000;

/** A message may hold a value for so many of the bytes that it may have: see {@link decodeEnvelope}. */
const BYTES_PER_VALUE = 16;

/** Characters of a message that holds too much in which a request's id is looked for. */
const START_LENGTH = 512;

/** Silence is looked at this many times before it is too long, and broken by a ping half-way. */
const SILENCE_STEPS = 4;

/** How many unknown types are remembered, so that each is logged once. */
const MAX_UNKNOWN_TYPES = 16;

/** Characters of an unknown type that are remembered. */
const LONGEST_TYPE = 32;

/**
 * A device's session with its backend over a transport: hello, envelope, liveness, and attempts without end.
 */
export class Protocol {
	readonly #transport: Transport;
	readonly #options: ProtocolOptions;
	readonly #maxValues: number;
	readonly #backoff: Backoff;
	#state: "closed" | "waiting" | "connecting" | "greeting" | "open" = "closed";
	#channel: Channel | undefined;
	/** The events of the present channel: those of an earlier one no longer count. */
	#events: ChannelEvents | undefined;
	#session: Session | undefined;
	/** Ends the attempt, or starts the next. */
	#timer: TimerHandle | undefined;
	#silenceTimer: TimerHandle | undefined;
	#goodSessionTimer: TimerHandle | undefined;
	#silentSteps = 0;
	readonly #unknownTypes = new Set<string>();

	constructor(transport: Transport, options: ProtocolOptions) {
		this.#transport = transport;
		this.#options = options;
		this.#maxValues = Math.floor(transport.maxMessageBytes / BYTES_PER_VALUE);
		this.#backoff = new Backoff(options.backoff);
	}

	/** The session, once hellos are exchanged. */
	get session(): Session | undefined {
		return this.#session;
	}

	/** Connects, and keeps connecting until {@link close}. */
	open(): void {
		if (this.#state === "closed") {
			this.#attempt();
		}
	}

	/** Ends the session and makes no further attempt. */
	close(): void {
		if (this.#state === "open" && this.#transport.saysGoodbye && this.#session !== undefined) {
			this.#channel?.send(goodbyeMessage(this.#session.id));
		}
		this.#release();
		this.#state = "closed";
	}

	/** Sends a message, which has its envelope already. Without a session it is dropped and logged. */
	send(text: Sendable): void {
		if (this.#state !== "open") {
			this.#options.log("no session: message dropped");
			return;
		}
		this.#channel?.send(text);
	}

	#attempt(): void {
		this.#state = "connecting";
		this.#options.events.onConnecting();
		if (this.#state !== "connecting") {
			return;
		}
		const events = this.#channelEvents();
		this.#events = events;
		this.#limit("no connection");
		try {
			const channel = this.#transport.open(events);
			if (this.#events === events) {
				this.#channel = channel;
			}
		} catch (cause) {
			if (this.#events !== events) {
				return;
			}
			const message = cause instanceof Error ? cause.message : String(cause);
			this.#lose(cause instanceof ProtocolError ? cause : new ProtocolError("connection-failed", message, { cause }));
		}
	}

	/** What a channel reports counts only while it is the present one. */
	#channelEvents(): ChannelEvents {
		const whilePresent =
			<A extends unknown[]>(handle: (...args: A) => void) =>
			(...args: A) => {
				if (this.#events === events) {
					handle(...args);
				}
			};
		const events: ChannelEvents = {
			onOpen: whilePresent(() => this.#greet()),
			onText: whilePresent((text: string) => this.#receive(text)),
			onDropped: whilePresent((reason: string, start: string) => this.#drop(reason, start)),
			onActivity: whilePresent(() => {
				this.#silentSteps = 0;
			}),
			onClose: whilePresent((error: ProtocolError) => this.#lose(error)),
		};
		return events;
	}

	#greet(): void {
		this.#state = "greeting";
		this.#limit("no hello");
		const audio = this.#options.audio ?? DEFAULT_AUDIO;
		this.#channel?.send(helloMessage(this.#transport, audio));
	}

	#receive(text: string): void {
		let envelope: Envelope;
		try {
			envelope = decodeEnvelope(text, this.#maxValues, this.#options.names?.());
		} catch (error) {
			const start = error instanceof JsonLimitError ? text.slice(0, START_LENGTH) : "";
			this.#drop((error as Error).message, start);
			return;
		}
		if (this.#state === "greeting" && envelope.type === "hello") {
			this.#meet(envelope);
		} else if (this.#state === "open") {
			this.#route(envelope);
		} else {
			this.#options.log(`message of type ${envelope.type} before hello: dropped`);
		}
	}

	/** Logs a message that is not read. If it is a request of this session, the backend is told so. */
	#drop(reason: string, start: string): void {
		this.#options.log(`message dropped: ${reason}`);
		const envelope = this.#state === "open" ? decodeStart(start) : undefined;
		if (envelope?.type === "mcp" && this.#isOurs(envelope)) {
			this.#options.events.onRejected(envelope.payload, reason);
		}
	}

	#isOurs({ session_id: id }: Envelope): boolean {
		return id === undefined || id === this.#session?.id;
	}

	#meet(hello: Envelope): void {
		let session: Session;
		try {
			session = readHello(hello, this.#transport.name);
		} catch (error) {
			this.#lose(error as ProtocolError);
			return;
		}
		this.#clearTimer();
		this.#state = "open";
		this.#session = session;
		this.#goodSessionTimer = this.#options.timer.set(() => this.#backoff.reset(), GOOD_SESSION);
		this.#watchSilence();
		this.#options.events.onSession(session);
	}

	#route(envelope: Envelope): void {
		const { type } = envelope;
		if (!this.#isOurs(envelope)) {
			this.#options.log(`message of type ${type} for another session: dropped`);
		} else if (type === "mcp") {
			this.#options.events.onMcp(envelope.payload);
		} else if (type === "goodbye") {
			this.#lose(new ProtocolError("goodbye", "the backend said goodbye"));
		} else if (APPLICATION_TYPES.includes(type)) {
			this.#options.events.onMessage(envelope);
		} else {
			this.#logUnknown(type.slice(0, LONGEST_TYPE));
		}
	}

	#logUnknown(type: string): void {
		if (!this.#unknownTypes.has(type) && this.#unknownTypes.size < MAX_UNKNOWN_TYPES) {
			this.#unknownTypes.add(type);
			this.#options.log(`message of unknown type ${JSON.stringify(type)}: dropped`);
		}
	}

	/** Ends the attempt or session and plans the next. */
	#lose(error: ProtocolError): void {
		this.#release();
		this.#state = "waiting";
		const retryIn = this.#backoff.next();
		this.#timer = this.#options.timer.set(() => {
			this.#timer = undefined;
			this.#attempt();
		}, retryIn);
		this.#options.events.onLost(error, retryIn);
	}

	#release(): void {
		this.#clearTimer();
		this.#stop(this.#silenceTimer);
		this.#silenceTimer = undefined;
		this.#stop(this.#goodSessionTimer);
		this.#goodSessionTimer = undefined;
		const channel = this.#channel;
		this.#channel = undefined;
		this.#events = undefined;
		this.#session = undefined;
		channel?.close();
	}

	/** Gives the present step of the attempt its time. */
	#limit(what: string): void {
		this.#clearTimer();
		const timeout = this.#options.helloTimeout ?? 10_000;
		this.#timer = this.#options.timer.set(() => {
			this.#timer = undefined;
			this.#lose(new ProtocolError("hello-timeout", `${what} within ${timeout} ms`));
		}, timeout);
	}

	/** Counts steps without traffic instead of setting a timer for each message, which would cost more than the message. */
	#watchSilence(): void {
		const timeout = this.#transport.silenceTimeout;
		if (timeout === 0) {
			return;
		}
		this.#silentSteps = 0;
		this.#silenceTimer = this.#options.timer.repeat(() => {
			this.#silentSteps += 1;
			if (this.#silentSteps > SILENCE_STEPS) {
				this.#lose(new ProtocolError("silent", `nothing heard for ${timeout} ms`));
			} else if (this.#silentSteps === SILENCE_STEPS / 2) {
				this.#channel?.ping();
			}
		}, timeout / SILENCE_STEPS);
	}

	#clearTimer(): void {
		this.#stop(this.#timer);
		this.#timer = undefined;
	}

	#stop(timer: TimerHandle | undefined): void {
		if (timer !== undefined) {
			this.#options.timer.clear(timer);
		}
	}
}
