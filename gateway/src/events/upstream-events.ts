import { createHash } from "node:crypto";
import { once } from "node:events";
import { RateLimit, type Server, type ServerRegistry, type Session } from "xs-mcp-manager/core";
import { z } from "zod";
import { exhausted } from "./event-error.js";
import type { EventQuery } from "./event-feed.js";
import type { EventLog } from "./event-log.js";
import { MAX_PER_SECOND } from "./record-events.js";
import { type UpstreamOccurrence, UpstreamStream } from "./upstream-stream.js";

/** Types of one server, and pages in which it lists them. */
const MAX_TYPES = 100;
const MAX_PAGES = 10;

/** Characters of a type as JSON, and of an event's data. */
const MAX_TYPE = 16_384;
const MAX_DATA = 4_096;

/** Subscriptions of the gateway to one server. */
const MAX_STREAMS = 100;

/** Milliseconds for which a subscription goes on after its last client: one that polls comes back. */
const LINGER = 300_000;

const schema = z.record(z.string(), z.unknown());
const TYPE = z.object({
	name: z.string().min(1).max(64),
	title: z.string().optional(),
	description: z.string().default(""),
	delivery: z.array(z.string()).default([]),
	inputSchema: schema.default({ type: "object" }),
	payloadSchema: schema.default({ type: "object" }),
});
const PAGE = z.looseObject({ events: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** A type of a configured server, as that lists it. */
export type UpstreamType = z.infer<typeof TYPE>;

/** Whether a session's server offers events. */
function offersEvents({ capabilities }: Session): boolean {
	const { extensions } = capabilities as { extensions?: Readonly<Record<string, unknown>> };
	return extensions?.["io.modelcontextprotocol/events"] !== undefined || "events" in capabilities;
}

/** Between a server's alias and its own name of a type, as in the names of tools. */
const SEPARATOR = "__";

interface Followed {
	readonly stream: UpstreamStream;
	readonly server: string;
	users: number;
	lingering: NodeJS.Timeout | undefined;
}

/** The events of configured servers: while a client subscribes to some, the gateway does, and writes them to the log. */
export class UpstreamEvents {
	readonly #log: EventLog;
	readonly #servers: ServerRegistry;
	/** By the server's id: the last types that it has listed. */
	readonly #types = new Map<string, readonly UpstreamType[]>();
	/** By key. */
	readonly #followed = new Map<string, Followed>();
	readonly #rates = new Map<string, RateLimit>();

	constructor(log: EventLog, servers: ServerRegistry) {
		this.#log = log;
		this.#servers = servers;
		servers.on("online", (server) => void this.#learn(server));
	}

	/** The types of a server, by the names that clients know; none if it has no events. */
	typesOf({ id, alias, configured }: Server): readonly UpstreamType[] {
		const types = configured ? (this.#types.get(id) ?? []) : [];
		return types.map((type) => ({ ...type, name: alias + SEPARATOR + type.name }));
	}

	/** Whether one of these servers has a type with this name. */
	has(name: string, servers: readonly Server[]): boolean {
		const [alias] = split(name);
		const server = servers.find((each) => each.alias === alias);
		return server !== undefined && this.typesOf(server).some((type) => type.name === name);
	}

	/**
	 * The events of a type with these arguments, which the gateway follows from now on.
	 *
	 * @param name as clients know it. Its server need not be connected yet
	 * @throws ProtocolError if the server has too many subscriptions
	 */
	query(name: string, args: Readonly<Record<string, unknown>>, maySee: (device: string) => boolean): EventQuery {
		const { key, ...source } = this.#follow(...split(name), args);
		return { source, matches: ({ device, upstream }) => upstream?.key === key && maySee(device) };
	}

	#follow(alias: string, name: string, args: Readonly<Record<string, unknown>>) {
		const type = this.#types.get(this.#servers.find(alias)?.id ?? alias)?.find((each) => each.name === name);
		const key = keyOf(alias, name, args);
		const followed = this.#followed.get(key) ?? this.#open(key, { alias, name, args, type });
		followed.users += 1;
		clearTimeout(followed.lingering);
		let isOpen = true;
		const close = (): void => {
			followed.users -= isOpen ? 1 : 0;
			isOpen = false;
			if (followed.users === 0) {
				followed.lingering = setTimeout(() => this.#end(key), LINGER).unref();
			}
		};
		return { key, ready: followed.stream.accepted, close };
	}

	close(): void {
		for (const key of [...this.#followed.keys()]) {
			this.#end(key);
		}
	}

	#open(
		key: string,
		{ alias, name, args, type }: { alias: string; name: string; args: object; type: UpstreamType | undefined },
	): Followed {
		if ([...this.#followed.values()].filter(({ server }) => server === alias).length >= MAX_STREAMS) {
			throw exhausted(`subscriptions to ${alias}`, MAX_STREAMS);
		}
		const last = [...this.#log.after(0)].reverse().find(({ upstream }) => upstream?.key === key);
		const stream = new UpstreamStream({
			name,
			args: { ...args },
			isPushed: type?.delivery.includes("push") ?? true,
			cursor: last?.upstream?.cursor ?? null,
			isOnline: () => this.#servers.find(alias)?.online === true,
			online: (signal) => this.#online(alias, signal),
			onEvent: (event) => this.#record(alias, name, key, event),
			onInvalid: () => this.#servers.reject(`${alias}: not an event ${name}`),
		});
		const followed = { stream, server: alias, users: 0, lingering: undefined };
		this.#followed.set(key, followed);
		// A request that the server has rejected may be repeated.
		stream.accepted.catch(() => this.#followed.get(key) === followed && this.#end(key));
		return followed;
	}

	#end(key: string): void {
		const followed = this.#followed.get(key);
		clearTimeout(followed?.lingering);
		followed?.stream.stop();
		this.#followed.delete(key);
	}

	async #online(alias: string, signal: AbortSignal): Promise<Session> {
		for (;;) {
			const { online, session } = this.#servers.find(alias) ?? {};
			if (online && session !== undefined) {
				return session;
			}
			await once(this.#servers, "online", { signal });
		}
	}

	#record(alias: string, name: string, key: string, { eventId, timestamp, data, cursor }: UpstreamOccurrence): void {
		const server = this.#servers.find(alias);
		if (server === undefined || JSON.stringify(data).length > MAX_DATA) {
			this.#servers.reject(`${alias}: event ${name} is too long (limit ${MAX_DATA} characters)`);
			return;
		}
		const rate = this.#rates.get(server.id) ?? new RateLimit(MAX_PER_SECOND);
		this.#rates.set(server.id, rate);
		if (rate.take()) {
			const time = timestamp === undefined || Number.isNaN(Date.parse(timestamp)) ? {} : { timestamp };
			const upstream = { key, eventId, cursor: cursor ?? null };
			this.#log.append(
				{ name: alias + SEPARATOR + name, device: server.id, data, upstream, ...time },
				`${key} ${eventId}`,
			);
		} else {
			this.#servers.reject(`${server.id}: too many events (limit ${MAX_PER_SECOND} a second)`);
		}
	}

	/** Reads the types of a configured server that has come online. */
	async #learn({ id, configured, session }: Server): Promise<void> {
		if (!configured || session === undefined || !offersEvents(session)) {
			this.#types.delete(id);
			return;
		}
		try {
			const types: UpstreamType[] = [];
			let cursor: string | undefined;
			for (let page = 0; page < MAX_PAGES && cursor !== ""; page += 1) {
				const answer = PAGE.parse(await session.forward("events/list", cursor === undefined ? {} : { cursor }));
				types.push(...answer.events.flatMap((event) => validType(event) ?? []));
				cursor = answer.nextCursor ?? "";
			}
			this.#types.set(id, types.slice(0, MAX_TYPES));
		} catch (error) {
			this.#servers.emit("warning", `${id}: could not read events/list: ${(error as Error).message}`);
		}
	}
}

/** The alias and the server's own name in a name that clients know. */
function split(name: string): [alias: string, own: string] {
	const end = name.indexOf(SEPARATOR);
	return [name.slice(0, Math.max(0, end)), name.slice(end + SEPARATOR.length)];
}

function validType(event: unknown): UpstreamType | undefined {
	const { data } = TYPE.safeParse(event);
	return data !== undefined && JSON.stringify(data).length <= MAX_TYPE ? data : undefined;
}

function keyOf(alias: string, name: string, args: Readonly<Record<string, unknown>>): string {
	const sorted = Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1));
	return createHash("sha256")
		.update(JSON.stringify([alias, name, sorted]))
		.digest("hex")
		.slice(0, 32);
}
