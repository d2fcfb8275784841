import type { Sendable } from "../../src/core/text/json.js";
import type { ProtocolError } from "../../src/protocols/envelope.js";
import { Protocol, type ProtocolOptions } from "../../src/protocols/protocol.js";
import type { Channel, ChannelEvents, Transport } from "../../src/protocols/transport.js";
import { FakeTimer } from "./fake-timer.js";

const NO_EVENTS: ChannelEvents = { onOpen() {}, onText() {}, onDropped() {}, onActivity() {}, onClose() {} };

export class FakeChannel implements Channel {
	readonly sent: string[] = [];
	pings = 0;
	closed = false;
	readonly #events: ChannelEvents;

	constructor(events: ChannelEvents) {
		this.#events = events;
	}

	/** Nothing is called after the channel was closed. */
	get events(): ChannelEvents {
		return this.closed ? NO_EVENTS : this.#events;
	}

	send(text: Sendable): void {
		this.sent.push(String(text));
	}

	ping(): void {
		this.pings += 1;
	}

	close(): void {
		this.closed = true;
	}

	say(message: object | string): void {
		this.events.onActivity();
		this.events.onText(typeof message === "string" ? message : JSON.stringify(message));
	}

	greet(sessionId = "s-1"): void {
		this.events.onOpen();
		this.say({ type: "hello", transport: "fake", session_id: sessionId });
	}
}

export type TransportChoice = Partial<
	Pick<Transport, "name" | "version" | "saysGoodbye" | "silenceTimeout" | "maxSentBytes" | "mayRetain">
>;

export class FakeTransport implements Transport {
	readonly name: string = "fake";
	readonly version: number = 7;
	readonly saysGoodbye = false;
	readonly silenceTimeout = 0;
	readonly mayRetain = false;
	readonly maxMessageBytes = 8_192;
	readonly maxSentBytes = Number.POSITIVE_INFINITY;
	readonly maxQueuedBytes = Number.POSITIVE_INFINITY;
	readonly channels: FakeChannel[] = [];
	failure: Error | undefined;
	/** Why the next channels are closed while they are opened. */
	refusal: ProtocolError | undefined;

	get channel(): FakeChannel {
		return this.channels.at(-1) as FakeChannel;
	}

	constructor(choice: TransportChoice = {}) {
		Object.assign(this, choice);
	}

	open(events: ChannelEvents): Channel {
		if (this.refusal !== undefined) {
			events.onClose(this.refusal);
		}
		if (this.failure !== undefined) {
			throw this.failure;
		}
		const channel = new FakeChannel(events);
		this.channels.push(channel);
		return channel;
	}
}

export class FakeProtocol extends Protocol {
	readonly fakeTransport: FakeTransport;

	constructor(options: ProtocolOptions, choice: TransportChoice = {}) {
		const transport = new FakeTransport(choice);
		super(transport, options);
		this.fakeTransport = transport;
	}

	get channels(): readonly FakeChannel[] {
		return this.fakeTransport.channels;
	}

	get lastChannel(): FakeChannel {
		return this.fakeTransport.channel;
	}
}

export function fakeProtocol(options: Partial<ProtocolOptions> = {}, choice: TransportChoice = {}) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const heard: unknown[] = [];
	const lost: { error: ProtocolError; retryIn: number | undefined }[] = [];
	const protocol = new FakeProtocol(
		{
			timer,
			log: (line) => log.push(line),
			backoff: { random: () => 0 },
			events: {
				onConnecting: () => heard.push("connecting"),
				onOpen: () => heard.push("open"),
				onSession: ({ id }) => heard.push(`session ${id}`),
				receiver: {
					receive: (payload) => heard.push({ mcp: payload }),
					reject: (payload, reason) => heard.push({ rejected: payload, reason }),
				},
				onMessage: ({ type }) => heard.push(`message ${type}`),
				onLost: (error, retryIn) => lost.push({ error, retryIn }),
			},
			...options,
		},
		choice,
	);
	return { protocol, timer, log, heard, lost };
}

export function beforeHello(...args: Parameters<typeof fakeProtocol>) {
	const fake = fakeProtocol(...args);
	fake.protocol.open();
	fake.protocol.lastChannel.events.onOpen();
	fake.heard.length = 0;
	return fake;
}

export function inSession(...args: Parameters<typeof fakeProtocol>) {
	const fake = fakeProtocol(...args);
	fake.protocol.open();
	fake.protocol.lastChannel.greet();
	fake.heard.length = 0;
	return fake;
}
