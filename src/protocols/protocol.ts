import { isObject, JsonLimitError, type Sendable } from "../core/text/json.js";
import { fitsUtf8 } from "../core/text/utf8.js";
import type { Runtime, TimerHandle } from "../hardware/hardware.js";
import { Backoff, type BackoffOptions } from "./backoff.js";
import {
	decodeEnvelope,
	decodeStart,
	type Envelope,
	goodbyeMessage,
	helloMessage,
	MCP,
	ProtocolError,
	type Session,
	type WantedNames,
} from "./envelope.js";
import type { Channel, ChannelEvents, Transport } from "./transport.js";

/** Types of messages other than MCP that reach the application. */
const APPLICATION_TYPES: readonly string[] = Object.freeze(
	"tts stt llm system alert custom notify listen speak_request glyph_push".split(" "),
);

/** Events of the connection to the backend. */
export interface ProtocolEvents {
	/** An attempt to start a session begins. */
	onConnecting?(): void;
	/** The connection is open, or outlives its session: messages may arrive, even before the backend's hello. */
	onOpen?(): void;
	/** Hellos are exchanged. A backend may repeat its hello, and so change the session. */
	onSession(session: Session): void;
	/** Session that receives MCP messages, while one is open. */
	readonly receiver?: { receive(payload: unknown): void; reject(payload: unknown, reason: string): void } | undefined;
	/** A message of another known type: one of {@link APPLICATION_TYPES}. */
	onMessage?(message: Envelope): void;
	/** An attempt or session ended. The next follows in `retryIn` ms; if undefined, when a session is needed. */
	onLost(error: ProtocolError, retryIn: number | undefined): void;
}

/** When the device is in a session: always, or only while it or the backend needs one. */
export type SessionPolicy = "always" | "on-demand";

export interface ProtocolOptions extends Runtime {
	readonly events: ProtocolEvents;
	/** Receives binary messages: audio, framed by the protocol version. If absent, such messages are dropped. */
	readonly onAudio?: ((frame: ArrayBuffer) => void) | undefined;
	/** Makes the device's hello. Default: that of a board without audio and glyphs. */
	readonly hello?: (transport: Transport) => string;
	/** Default "always": the backend can call the device at any time. */
	readonly session?: SessionPolicy;
	/** The wanted members of MCP messages. Default: all. */
	readonly names?: WantedNames;
	readonly backoff?: BackoffOptions;
}

/** Bytes of the size limit per value that a message may hold: see {@link decodeEnvelope}. */
const BYTES_PER_VALUE = 15;

const HELLO = "hello";

/**
 * Milliseconds after connecting in which commands are dropped: a broker may have retained one, which would run at each
 * connection. The clients of ECMA-419 do not say which messages are retained. The backend's hello ends this time.
 */
const RETAINED_TIME = 2_000;

/** Characters of an oversized message that are searched for a request's id. */
const START_LENGTH = 512;

/** Milliseconds for the connection, and again for the backend's hello. */
const HELLO_TIMEOUT = 10_000;

/** Poll interval of a session, ms. Counting polls costs less than a timer for each message. */
const POLL_INTERVAL = 30_000;

/** Duration after which a session counts as a good one, ms. */
const GOOD_SESSION = 10_000;

/** A session without a message for this many polls is idle. */
const IDLE_POLLS = 2;

/** The smallest useful limit of sent messages, in bytes: a lower one is an error of the backend. */
const MIN_SENT_BYTES = 512;

/** Limits of the unknown message types that are remembered, so that each is logged once. */
const MAX_UNKNOWN_TYPES = 16;
const MAX_UNKNOWN_LENGTH = 32;

/** Types of messages other than MCP that make the device do more than show something. */
const COMMAND_TYPES: readonly string[] = Object.freeze(["system", "listen", "notify", "speak_request"]);

/** Whether a message is carried out, and not only answered or shown. A batch may hold calls of tools. */
const isCommand = ({ type, payload }: Envelope): boolean =>
	type === MCP
		? Array.isArray(payload) || (isObject(payload) && payload.method === "tools/call")
		: COMMAND_TYPES.includes(type);

/** A device's session with its backend over a transport: hello, envelope, liveness, endless reconnecting. */
export class Protocol implements ChannelEvents {
	transport!: Transport;
	private readonly options: ProtocolOptions;
	private maxValues = 0;
	/** Delays after failures, and after idle sessions that the backend ended. */
	private readonly failures: Backoff;
	private readonly idle: Backoff;
	/** "waiting" without a connection, "ready" with one, but without a session. */
	private state: "closed" | "waiting" | "connecting" | "ready" | "greeting" | "open" = "closed";
	private isWanted = false;
	private channel: Channel | undefined;
	/** Counts the connections and attempts that have ended. */
	private ended = 0;
	readonly onBinary: ChannelEvents["onBinary"];
	/** The session, once hellos are exchanged. */
	session: Session | undefined;
	/** The longest message to the backend in bytes: from its hello, else from the transport. It fits into the queue. */
	maxSentBytes = 0;
	/** Whether no MCP message has come in this session. */
	private isFirst = true;
	/** Timer: ends the attempt, or starts the next one. */
	private timer: TimerHandle | undefined;
	/** Run during a session: one polls it, the other marks it as a good one. */
	private polling: TimerHandle | undefined;
	private lasting: TimerHandle | undefined;
	/** Polls since the last sign of life, a whole message or a control frame, and since the last message. */
	private silentPolls = 0;
	private quietPolls = 0;
	/** Runs while commands are dropped, because they may be retained messages. */
	private retained: TimerHandle | undefined;
	private readonly unknownTypes = new Set<string>();

	constructor(transport: Transport, options: ProtocolOptions) {
		this.options = options;
		this.onBinary = options.onAudio;
		this.use(transport);
		this.failures = new Backoff(options.backoff);
		this.idle = new Backoff(options.backoff);
	}

	/** Uses this transport for further connections. */
	use(transport: Transport): void {
		this.transport = transport;
		this.maxValues = Math.floor(transport.maxMessageBytes / BYTES_PER_VALUE);
		if (this.session === undefined) {
			this.limitSent();
		}
	}

	private limitSent(bytes = this.transport.maxSentBytes): void {
		this.maxSentBytes = Math.min(bytes, this.transport.maxQueuedBytes);
	}

	/** Connects, and keeps connecting until {@link close}. If sessions are on demand, it waits until one is needed. */
	open(): void {
		if (this.state !== "closed") {
			return;
		}
		this.isWanted = this.isAlwaysWanted;
		this.state = "waiting";
		if (this.isWanted || this.transport.saysGoodbye) {
			this.attempt();
		}
	}

	/** Requests a session, which starts at once unless one exists. */
	request(): void {
		if (this.state === "closed") {
			return;
		}
		this.isWanted = true;
		if (this.state === "waiting") {
			this.clearTimer();
			this.attempt();
		} else if (this.state === "ready") {
			this.startSession();
		}
	}

	/** Ends the session and stops reconnecting. */
	close(): void {
		if (this.state === "open" && this.transport.saysGoodbye && this.session !== undefined) {
			this.channel?.send(goodbyeMessage(this.session.id));
		}
		this.release();
		this.state = "closed";
	}

	/**
	 * Sends a message, envelope included. It is dropped and logged without a connection, and if it is too long: it could break the
	 * connection, and so end the session. Bound to this object.
	 *
	 * @param isAnswer whether it is a response, whose length the MCP session limits
	 */
	readonly send = (text: Sendable, isAnswer = false): void => {
		const limit = this.maxSentBytes;
		if (this.state !== "ready" && this.state !== "greeting" && this.state !== "open") {
			this.options.log("no connection: message dropped");
		} else if (isAnswer || (typeof text === "string" ? fitsUtf8(text, limit) : text.bytes <= limit)) {
			this.channel?.send(text);
		} else {
			this.options.log(`message dropped: longer than ${limit} bytes`);
		}
	};

	/** Sends a binary message at once, in a session. @returns false if it was dropped */
	sendBinary(message: Uint8Array): boolean {
		return this.state === "open" && this.channel?.sendNow?.(message) === true;
	}

	private get isAlwaysWanted(): boolean {
		return this.options.session !== "on-demand";
	}

	private attempt(): void {
		this.state = "connecting";
		if (this.isWanted) {
			this.options.events.onConnecting?.();
		}
		if (this.state !== "connecting") {
			return;
		}
		const ended = this.ended;
		this.startTimeout("no connection");
		try {
			const channel = this.transport.open(this);
			if (this.ended === ended) {
				this.channel = channel;
			} else {
				channel.close();
			}
		} catch (cause) {
			if (this.ended !== ended) {
				return;
			}
			const message = cause instanceof Error ? cause.message : String(cause);
			this.onClose(cause instanceof ProtocolError ? cause : new ProtocolError("connection-failed", message, { cause }));
		}
	}

	onOpen(): void {
		this.clearTimer();
		this.state = "ready";
		if (this.transport.mayRetain) {
			this.retained = this.options.timer.set(() => {
				this.retained = undefined;
			}, RETAINED_TIME);
		}
		this.options.events.onOpen?.();
		if (this.state === "ready" && this.isWanted) {
			this.sendHello();
		}
	}

	/** Starts a session on an existing connection. */
	private startSession(): void {
		this.options.events.onConnecting?.();
		if (this.state === "ready") {
			this.sendHello();
		}
	}

	private sendHello(): void {
		this.state = "greeting";
		this.startTimeout("no hello");
		const { hello = helloMessage } = this.options;
		this.channel?.send(hello(this.transport));
	}

	onText(text: string): void {
		let envelope: Envelope;
		try {
			envelope = decodeEnvelope(text, this.maxValues, this.options.names, this.isFirst);
		} catch (error) {
			this.onDropped((error as Error).message, error instanceof JsonLimitError ? text : "");
			return;
		}
		this.isFirst = this.session === undefined || (this.isFirst && envelope.type !== MCP);
		if (envelope.type !== HELLO) {
			this.route(envelope);
		} else if (this.state === "greeting" || this.state === "open") {
			this.acceptHello(envelope);
		} else {
			this.options.log("unexpected hello: dropped");
		}
	}

	/** Logs a dropped message. Answers a request of this session with an error, and shows a text without its glyphs. */
	onDropped(reason: string, start: string): void {
		// In messages of the family's servers the glyphs come last.
		const end = start.lastIndexOf(",", start.indexOf('"glyph_push":'));
		this.options.log(`${end < 0 ? "message" : "glyphs"} dropped: ${reason}`);
		const envelope = decodeStart(start.slice(0, START_LENGTH));
		if (envelope?.type === MCP && this.isOurs(envelope)) {
			this.options.events.receiver?.reject(envelope.payload, reason);
		} else if (end >= 0) {
			this.onText(`${start.slice(0, end)}}`);
		}
	}

	/** Some backends omit the id, send an empty one, or send one that their hello did not name. */
	private isOurs({ session_id: id }: Envelope): boolean {
		const own = this.session?.id ?? "";
		return own === "" || id === undefined || id === null || id === "" || id === own;
	}

	/**
	 * Starts or changes the session. Any transport name is accepted: backends do not agree on them. As in the C++ firmware, an id
	 * that is not a text counts as absent. During a session, a hello that lacks its id is dropped.
	 */
	private acceptHello(hello: Envelope): void {
		const session: Session = { id: typeof hello.session_id === "string" ? hello.session_id : "", hello };
		if (session.id === "" && this.session !== undefined && this.session.id !== "") {
			this.options.log("hello without session_id during a session: dropped");
			return;
		}
		this.session = session;
		const { max_message_bytes: announced } = hello;
		const isUsable = typeof announced === "number" && announced >= MIN_SENT_BYTES;
		this.limitSent(isUsable ? announced : undefined);
		if (this.state === "greeting") {
			this.clearTimer();
			this.endRetained();
			this.state = "open";
			const { timer } = this.options;
			this.polling = timer.repeat(() => this.checkLife(), POLL_INTERVAL);
			this.lasting = timer.set(() => this.failures.reset(), GOOD_SESSION);
		}
		this.options.events.onSession(session);
	}

	onActivity(): void {
		this.silentPolls = 0;
	}

	/** Pings the backend after half of the silence timeout, and ends the session after all of it. */
	private checkLife(): void {
		const { silenceTimeout } = this.transport;
		const limit = silenceTimeout / POLL_INTERVAL;
		this.quietPolls += 1;
		this.silentPolls += 1;
		if (limit > 0 && this.silentPolls > limit) {
			this.onClose(new ProtocolError("silent", `nothing heard for ${silenceTimeout} ms`));
		} else if (this.silentPolls === limit / 2) {
			this.channel?.ping();
		}
	}

	private route(envelope: Envelope): void {
		const { type } = envelope;
		const isMcp = type === MCP;
		// Most backends send the id of their hello.
		if (envelope.session_id !== this.session?.id && !this.isOurs(envelope)) {
			this.options.log(`message of type ${type} for another session: dropped`);
		} else if (this.retained !== undefined && isCommand(envelope)) {
			const reason = `command of type ${type} before the backend's hello: dropped, it may be a retained message`;
			this.options.log(reason);
			for (const message of isMcp ? [envelope.payload].flat() : []) {
				this.options.events.receiver?.reject(message, reason);
			}
		} else if (isMcp || APPLICATION_TYPES.includes(type)) {
			if (this.quietPolls > 0) {
				// The first message for a while.
				if (this.quietPolls >= IDLE_POLLS) {
					this.idle.reset();
				}
				this.quietPolls = 0;
			}
			const { events } = this.options;
			isMcp ? events.receiver?.receive(envelope.payload) : events.onMessage?.(envelope);
			// A message outside a session requests one.
			if (this.state === "ready") {
				this.request();
			}
		} else if (type === "goodbye" && this.state === "open") {
			this.onClose(new ProtocolError("goodbye", "the backend said goodbye"));
		} else if (this.unknownTypes.size < MAX_UNKNOWN_TYPES) {
			const unknown = type.slice(0, MAX_UNKNOWN_LENGTH);
			if (!this.unknownTypes.has(unknown)) {
				this.unknownTypes.add(unknown);
				this.options.log(`message of unknown type ${JSON.stringify(unknown)}: dropped`);
			}
		}
	}

	/** Ends the attempt or session and schedules the next. After a goodbye a connection that can outlive a session is kept. */
	onClose(error: ProtocolError): void {
		const delay = this.delayAfter(error);
		const keepsChannel = error.code === "goodbye" && this.transport.saysGoodbye;
		this.isWanted = this.isAlwaysWanted;
		if (keepsChannel) {
			this.endSession();
			this.state = "ready";
		} else {
			this.release();
			this.state = "waiting";
		}
		const retryIn = this.isWanted || (this.transport.saysGoodbye && !keepsChannel) ? delay : undefined;
		if (retryIn !== undefined) {
			this.timer = this.options.timer.set(() => (keepsChannel ? this.startSession() : this.attempt()), retryIn);
		}
		this.options.events.onLost(error, retryIn);
		if (this.state === "ready") {
			this.options.events.onOpen?.();
		}
	}

	private delayAfter({ code }: ProtocolError): number {
		const isIdle = this.polling === undefined ? undefined : this.quietPolls >= IDLE_POLLS;
		if (isIdle && (code === "goodbye" || code === "connection-closed")) {
			return this.idle.next();
		}
		if (isIdle !== undefined) {
			this.idle.reset();
		}
		return this.failures.next();
	}

	private endSession(): void {
		this.clearTimer();
		this.options.timer.clear(this.polling);
		this.options.timer.clear(this.lasting);
		this.polling = undefined;
		this.silentPolls = 0;
		this.quietPolls = 0;
		this.session = undefined;
		this.limitSent();
		this.isFirst = true;
	}

	private endRetained(): void {
		this.options.timer.clear(this.retained);
		this.retained = undefined;
	}

	private release(): void {
		this.endSession();
		this.endRetained();
		const channel = this.channel;
		this.channel = undefined;
		this.ended += 1;
		channel?.close();
	}

	private startTimeout(what: string): void {
		this.clearTimer();
		this.timer = this.options.timer.set(() => {
			this.onClose(new ProtocolError("hello-timeout", `${what} within ${HELLO_TIMEOUT} ms`));
		}, HELLO_TIMEOUT);
	}

	private clearTimer(): void {
		this.options.timer.clear(this.timer);
	}
}
