import type { Channel, ChannelEvents } from "../../src/protocols/channel.js";
import { Protocol, type ProtocolOptions } from "../../src/protocols/protocol.js";
import type { ProtocolError } from "../../src/protocols/protocol-error.js";
import { FakeTimer } from "./fake-timer.js";

/** A channel that a test is the other end of. */
export class FakeChannel implements Channel {
	readonly sent: string[] = [];
	pings = 0;
	closed = false;
	readonly events: ChannelEvents;

	constructor(events: ChannelEvents) {
		this.events = events;
	}

	send(text: string): void {
		this.sent.push(text);
	}

	ping(): void {
		this.pings += 1;
	}

	close(): void {
		this.closed = true;
	}

	/** The backend says something. */
	say(message: object | string): void {
		this.events.onActivity();
		this.events.onText(typeof message === "string" ? message : JSON.stringify(message));
	}

	/** Opens, and the backend answers the hello. */
	greet(sessionId = "s-1"): void {
		this.events.onOpen();
		this.say({ type: "hello", transport: "fake", session_id: sessionId });
	}
}

/** A protocol on channels in memory, and everything it reports. */
export class FakeProtocol extends Protocol {
	protected readonly transport = "fake";
	protected readonly version = 7;
	protected override readonly saysGoodbye: boolean;
	readonly channels: FakeChannel[] = [];
	/** What the next attempts throw. */
	failure: Error | undefined;

	constructor(options: ProtocolOptions, saysGoodbye = false) {
		super(options);
		this.saysGoodbye = saysGoodbye;
	}

	get channel(): FakeChannel {
		return this.channels.at(-1) as FakeChannel;
	}

	protected override connect(events: ChannelEvents): Channel {
		if (this.failure !== undefined) {
			throw this.failure;
		}
		const channel = new FakeChannel(events);
		this.channels.push(channel);
		return channel;
	}
}

/** A protocol, its time, its log, and what the application would hear. */
export function fakeProtocol(options: Partial<ProtocolOptions> = {}, saysGoodbye = false) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const heard: unknown[] = [];
	const lost: { error: ProtocolError; retryIn: number }[] = [];
	const protocol = new FakeProtocol(
		{
			timer,
			log: (line) => log.push(line),
			backoff: { random: () => 0 },
			events: {
				onConnecting: () => heard.push("connecting"),
				onSession: ({ id }) => heard.push(`session ${id}`),
				onMcp: (payload) => heard.push({ mcp: payload }),
				onMessage: ({ type }) => heard.push(`message ${type}`),
				onLost: (error, retryIn) => lost.push({ error, retryIn }),
			},
			...options,
		},
		saysGoodbye,
	);
	return { protocol, timer, log, heard, lost };
}
