import type { FeatureResult } from "../mcp_server/features/feature-session.js";
import { readText } from "../mcp_server/features/read-param.js";
import type { Feature } from "../mcp_server/features/server-feature.js";
import { invalidParams, type LongResult, quotable, RpcError, resultOverhead } from "../mcp_server/json-rpc.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import { PagedList } from "../mcp_server/paged-list.js";
import { type Params, readArguments, readCursor } from "../mcp_server/params.js";
import type { ToolCall } from "../mcp_server/tool-call.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { EVENT_TYPES, type EventType, findEventType, listEventTypes, MAX_DATA, MAX_EVENTS } from "./event-types.js";

/** Milliseconds after which a client may poll again. */
const NEXT_POLL = 5_000;

/** The error code of SEP-3415 for an unknown type. */
const NOT_FOUND = -32011;

/** Members that are read in polls: also the gateway's arguments that a device rejects, as XS skips names that are not here. */
const NAMES: readonly string[] = deepFreeze([
	"maxAgeMs",
	"maxEvents",
	"button",
	"sensor",
	"switch",
	"line",
	"event",
	"state",
	"device",
	"tag",
	"pause",
	"long",
	"kind",
	"above",
	"below",
	"on",
]);

/** The start of what `call.emit` sends. */
const EMITTED = '{"jsonrpc":"2.0","method":"notifications/event"';

const RESULT_START = '{"events":[';

/** Bytes reserved for what follows the events of a result. */
const END_RESERVE = 128;

interface KeptEvent {
	/** One more than that of the event before. */
	readonly seq: number;
	readonly name: string;
	/** Milliseconds since 1970. */
	readonly time: number;
	/** JSON, because objects would take more of the heap. */
	readonly data: string;
}

/**
 * The newest events of the device, in memory, which clients poll: SEP-3415
 * (https://modelcontextprotocol.io/seps/3415-events-extension). After a restart, cursors are answered with `truncated`.
 */
export class DeviceEvents implements Feature<unknown> {
	/** Clients of today look for events in either of two places. */
	readonly capabilities = { extensions: { "io.modelcontextprotocol/events": {} }, events: {} };
	readonly names = NAMES;
	private readonly log: (message: string) => void;
	/** Names this run of the firmware. */
	private readonly epoch = Math.random().toString(16).slice(2, 14).padEnd(12, "0");
	/** Oldest first. */
	private readonly events: KeptEvent[] = [];
	/** The place of the newest event. */
	private last = 0;
	/** The last value of each sensor of the board. */
	private readonly readings = new Map<unknown, unknown>();
	private device = "";

	constructor(log: (message: string) => void) {
		this.log = log;
	}

	attach({ name }: McpServer<unknown>): void {
		this.device = name;
	}

	/** The device has sent a notification, or would have in a session with its backend. */
	told(method: string, params: object): void {
		const type = Object.hasOwn(EVENT_TYPES, method) ? EVENT_TYPES[method] : undefined;
		if (type !== undefined) {
			this.record(type, method === "notifications/sensor_changed" ? this.follow(params as Params) : (params as Params));
		}
	}

	/** A client was sent a notification of its own call. */
	sent(text: string): void {
		if (text.startsWith(EMITTED)) {
			const { method, params } = JSON.parse(text) as { method: string; params: object };
			this.told(method, params);
		}
	}

	answer(method: string, params: Params, { id, session }: ToolCall): FeatureResult | undefined {
		const room = session.pageBytes - resultOverhead(id);
		switch (method) {
			case "events/list":
				return new PagedList("events", listEventTypes()).page(readCursor(params), room);
			case "events/poll":
				return this.poll(params, room);
			default:
				return undefined;
		}
	}

	/** A reading with the value of the event before. */
	private follow(params: Params): Params {
		const { sensor, value } = params;
		const previous = this.readings.get(sensor);
		this.readings.set(sensor, value);
		return { ...params, previous };
	}

	private record({ name, members, sources }: EventType, params: Params): void {
		const taken = Object.keys(members).map((member) => [member, params[sources?.[member] ?? member]]);
		const data = JSON.stringify({ device: this.device, ...Object.fromEntries(taken) });
		if (data.length > MAX_DATA) {
			this.log(`event ${name} dropped: ${data.length} characters (limit ${MAX_DATA})`);
			return;
		}
		this.last += 1;
		this.events.push({ seq: this.last, name, time: Date.now(), data });
		if (this.events.length > MAX_EVENTS) {
			this.events.shift();
		}
	}

	/** @param room the largest result in bytes: further events come with the next poll */
	private poll(params: Params, room: number): LongResult {
		const name = readText(params, "name", "the name of an event type");
		const type = findEventType(name);
		if (type === undefined) {
			throw new RpcError(NOT_FOUND, `Unknown event: ${quotable(name)}`, { kind: "event" });
		}
		const isMeant = readFilter(type, params);
		const maxEvents = readInteger(params, "maxEvents", 1) ?? MAX_EVENTS;
		const start = this.start(params);
		let { position } = start;
		let bytes = RESULT_START.length + END_RESERVE;
		const items: ArrayBuffer[] = [];
		for (const event of this.events.filter(({ seq }) => seq > start.position)) {
			if (isMeant(event)) {
				const item = ArrayBuffer.fromString(this.occurrence(event));
				bytes += item.byteLength + 1;
				if (items.length === maxEvents || bytes > room) {
					break;
				}
				items.push(item);
			}
			position = event.seq;
		}
		const hasMore = position < this.last;
		const cursor = `${this.epoch}.${position}`;
		const rest = JSON.stringify({ cursor, truncated: start.truncated, hasMore, nextPollMs: NEXT_POLL });
		return longResult(items, `],${rest.slice(1)}`);
	}

	/**
	 * The place after which a poll reads.
	 *
	 * @throws RpcError invalid params
	 */
	private start(params: Params): { readonly position: number; readonly truncated: boolean } {
		const { cursor } = params;
		const maxAgeMs = readInteger(params, "maxAgeMs", 0) ?? Number.POSITIVE_INFINITY;
		if (cursor === undefined || cursor === null) {
			return { position: this.last, truncated: false };
		}
		const [, epoch, seq] = cursorPattern().exec(readCursor(params)) ?? [];
		if (epoch === undefined) {
			throw invalidParams("cursor: not one of this device");
		}
		const asked = Number(seq);
		if (epoch !== this.epoch || asked > this.last) {
			return { position: this.last, truncated: true };
		}
		const oldest = Date.now() - maxAgeMs;
		const kept = this.events.find(({ time }) => time >= oldest)?.seq ?? this.last + 1;
		return { position: Math.max(asked, kept - 1), truncated: asked < kept - 1 };
	}

	/** An event as clients get it, as JSON. */
	private occurrence({ seq, name, time, data }: KeptEvent): string {
		const timestamp = new Date(time).toISOString();
		const head = JSON.stringify({ eventId: `evt_${this.epoch}_${seq}`, name, timestamp });
		return head.slice(0, -1).concat(',"data":', data, "}");
	}
}

const cursorPattern = (): RegExp => /^([0-9a-f]{12})\.(\d{1,15})$/;

/**
 * Whether an event is one that a poll asks for.
 *
 * @throws RpcError that names an argument that is not offered
 */
const readFilter = ({ name, argument }: EventType, params: Params): ((event: KeptEvent) => boolean) => {
	const given = readArguments(params);
	const unknown = Object.keys(given).find((each) => each !== argument);
	if (unknown !== undefined) {
		const offered = argument === undefined ? "no arguments" : `only the argument ${argument}`;
		throw invalidParams(`arguments.${quotable(unknown)}: ${name} has ${offered} on this device`);
	}
	const wanted = argument === undefined ? undefined : given[argument];
	if (argument === undefined || wanted === undefined) {
		return (event) => event.name === name;
	}
	if (typeof wanted !== "string") {
		throw invalidParams(`arguments.${argument}: expected a string`);
	}
	return (event) => event.name === name && (JSON.parse(event.data) as Params)[argument] === wanted;
};

/** @throws RpcError invalid params */
const readInteger = (params: Params, name: string, minimum: number): number | undefined => {
	const value = params[name];
	if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= minimum)) {
		throw invalidParams(`${name}: expected an integer of at least ${minimum}`);
	}
	return value as number | undefined;
};

const longResult = (items: readonly ArrayBuffer[], after: string): LongResult => {
	const commas = Math.max(items.length - 1, 0);
	const bytes = items.reduce((sum, item) => sum + item.byteLength, RESULT_START.length + commas + after.length);
	return { before: RESULT_START, items, after, bytes };
};
