import { addAbortListener } from "node:events";
import { readFileSync } from "node:fs";
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { type KV, Kvm, type KvWatchEntry } from "@nats-io/kv";
import {
	type ConnectionOptions,
	connect,
	createInbox,
	credsAuthenticator,
	errors,
	headers,
	type Msg,
	type NatsConnection,
	type TlsOptions,
} from "@nats-io/transport-node";
import { type EventStream, openEventStream } from "./event-stream.js";
import { ABSENT_TIME } from "./messages.js";

/** How a gateway reaches NATS. */
export interface BusOptions {
	/** nats://HOST:4222 or tls://HOST:4222, perhaps with user name and password, or with a token alone. */
	readonly url: string;
	/** A file of JWT and NKey. */
	readonly credentials?: string | undefined;
	/** The password of the URL's user name, or a token if the URL names no user. */
	readonly password?: string | undefined;
	/** A file of CA certificates. */
	readonly ca?: string | undefined;
	/** Servers that keep a copy of each bucket. */
	readonly replicas: number;
}

/** The buckets: each is a stream of JetStream. */
export interface Buckets {
	/** Leases by gateway. In memory: they are renewed all the time. */
	readonly gateways: KV;
	/** Devices by {@link keyOf}. */
	readonly devices: KV;
	/** Lists by their hash: devices of one kind and firmware share them. */
	readonly lists: KV;
	/** Approvals of the last ten minutes. In memory: they can be requested again. */
	readonly approvals: KV;
	/** Webhooks by the subscription's id. */
	readonly webhooks: KV;
}

/** Milliseconds between attempts to reach NATS again. */
const RECONNECT_TIME = 500;

/** Milliseconds between pings that find a dead connection to NATS; the second one without an answer ends it. */
const PING_INTERVAL = 3_000;

/** Milliseconds in which NATS reports that a message has no receiver. */
const ANSWER_TIME = 1_000;

const DAY = 86_400_000;

/** Milliseconds for which lists are kept that no gateway renews. */
const LISTS_TIME = 30 * DAY;

/** Bytes of lists: what devices may fill of the disk. */
const MAX_LISTS = 256 * 1024 * 1024;

/** Bytes of a message that are left for its subject and headers. */
const MESSAGE_OVERHEAD = 1_024;

/** Limit of refused subjects that are reported. */
const MAX_REFUSED = 20;

/** The header of a part of a long message: "2/5". */
const PART = "Xs-Mcp-Part";

interface Listener {
	/** The connection was lost. */
	readonly onLost: () => void;
	/** The connection is back. */
	readonly onBack: () => void;
	/** NATS does not allow something: once for each subject. */
	readonly onRefused: (message: string) => void;
}

/** A connection to NATS, which comes back by itself. */
export class Bus {
	readonly #connection: NatsConnection;
	readonly #replicas: number;
	#connected = true;
	/** The first subscription that NATS has refused. */
	#refused: Error | undefined;

	private constructor(connection: NatsConnection, replicas: number, listener: Listener) {
		this.#connection = connection;
		this.#replicas = replicas;
		void this.#follow(listener);
	}

	/** Rejects if NATS cannot be reached, or does not accept the credentials. */
	static async connect(options: BusOptions, name: string, listener: Listener): Promise<Bus> {
		return new Bus(await connectToNats(options, name), options.replicas, listener);
	}

	get connected(): boolean {
		return this.#connected;
	}

	/** Bytes of a message. */
	get maxBytes(): number {
		return (this.#connection.info?.max_payload ?? 1024 * 1024) - MESSAGE_OVERHEAD;
	}

	/** Opens the buckets, and creates missing ones. */
	async openBuckets(): Promise<Buckets> {
		const kvm = new Kvm(this.#connection);
		// Without direct reads, which may be older than what was written.
		const common = { history: 1, replicas: this.#replicas, allow_direct: false };
		return {
			gateways: await kvm.create("xsmcp_gateways", { ...common, ttl: ABSENT_TIME, storage: "memory" }),
			devices: await kvm.create("xsmcp_devices", common),
			lists: await kvm.create("xsmcp_lists", { ...common, ttl: LISTS_TIME, max_bytes: MAX_LISTS }),
			webhooks: await kvm.create("xsmcp_webhooks", common),
			approvals: await kvm.create("xsmcp_approvals", { ...common, ttl: 600_000, storage: "memory" }),
		};
	}

	/** Creates the stream of events, or opens it. */
	async openEvents(): Promise<EventStream> {
		return await openEventStream(this.#connection, this.#replicas);
	}

	subscribe(subject: string, onMessage: (message: Msg) => void): void {
		this.#connection.subscribe(subject, {
			callback: (error, message) => {
				if (error === null) {
					onMessage(message);
				} else {
					this.#refused ??= error;
				}
			},
		});
	}

	/** Rejects if NATS has refused a subscription. */
	async expectSubscriptions(): Promise<void> {
		// The server reports refused subscriptions before it answers this.
		await this.flush();
		if (this.#refused !== undefined) {
			throw this.#refused;
		}
	}

	/** Publishes JSON, in several parts if it is too long for one message. */
	publish(subject: string, message: object, reply?: string): void {
		const bytes = Buffer.from(JSON.stringify(message));
		const parts = Math.ceil(bytes.length / this.maxBytes);
		for (let part = 1; part <= parts; part += 1) {
			const more = headers();
			more.set(PART, `${part}/${parts}`);
			this.#connection.publish(subject, bytes.subarray((part - 1) * this.maxBytes, part * this.maxBytes), {
				...(reply !== undefined && { reply }),
				...(parts > 1 && { headers: more }),
			});
		}
	}

	/** Whether anybody receives a subject. */
	async hasReceiver(subject: string): Promise<boolean> {
		const inbox = createInbox();
		const answer = new Promise<boolean>((resolve) => {
			const subscription = this.#connection.subscribe(inbox, {
				max: 1,
				callback: (_error, message) => resolve(!hasNoResponder(message)),
			});
			setTimeout(() => {
				subscription.unsubscribe();
				resolve(true);
			}, ANSWER_TIME);
		});
		this.#connection.publish(subject, "{}", { reply: inbox });
		return await answer;
	}

	/** Settles when everything that was published before has arrived at NATS. */
	async flush(): Promise<void> {
		await this.#connection.flush();
	}

	async close(): Promise<void> {
		await this.#connection.close();
	}

	async #follow({ onLost, onBack, onRefused }: Listener): Promise<void> {
		const refused = new Set<string>();
		for await (const status of this.#connection.status()) {
			if (status.type === "disconnect" && this.#connected) {
				this.#connected = false;
				onLost();
			} else if (status.type === "reconnect") {
				this.#connected = true;
				onBack();
			} else if (status.type === "error" && status.error instanceof errors.PermissionViolationError) {
				const { operation, subject, message } = status.error;
				if (refused.size < MAX_REFUSED && !refused.has(operation + subject)) {
					refused.add(operation + subject);
					onRefused(message);
				}
			}
		}
	}
}

/** @returns the bucket. @throws Error while NATS is disconnected */
export function reached<Bucket>(bucket: Bucket | undefined): Bucket {
	if (bucket === undefined) {
		throw new Error("the connection to NATS is lost");
	}
	return bucket;
}

/** Which part of a long message this is; undefined if it is whole. */
export function partOf({ headers: more }: Msg): { readonly part: number; readonly parts: number } | undefined {
	const [part, parts] = (more?.get(PART) ?? "").split("/").map(Number);
	return part !== undefined && parts !== undefined ? { part, parts } : undefined;
}

/** Whether NATS reports that the subject of a message has no receiver. */
export function hasNoResponder({ headers: more }: Msg): boolean {
	return more?.code === 503;
}

/** Settles with the revision that was written; undefined if the entry has changed since it was read. */
export async function ifCurrent(write: Promise<number>): Promise<number | undefined> {
	try {
		return await write;
	} catch (error) {
		if (isOutdated(error)) {
			return undefined;
		}
		throw error;
	}
}

/** Whether a write failed because the entry has changed since. */
export function isOutdated(error: unknown): boolean {
	const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes;
	return (
		error instanceof JetStreamApiError &&
		(error.code === StreamWrongLastSequence || error.code === StreamWrongLastSequenceUnknown)
	);
}

/**
 * Follows a bucket. Rejects if it cannot, or the connection is lost meanwhile.
 *
 * @param connection aborted when the connection is lost
 * @param withValues false: the entries have none
 */
export async function watch(
	bucket: KV,
	connection: AbortSignal,
	onEntry: (entry: KvWatchEntry) => void,
	onError: (error: Error) => void,
	withValues = true,
): Promise<void> {
	const entries = await bucket.watch({ headers_only: !withValues });
	addAbortListener(connection, () => entries.stop());
	connection.throwIfAborted();
	const follow = async (): Promise<void> => {
		for await (const entry of entries) {
			onEntry(entry);
		}
	};
	follow().catch(onError);
}

/** Connects to NATS. Rejects if it cannot be reached, or does not accept the credentials. */
export async function connectToNats(options: BusOptions, name: string): Promise<NatsConnection> {
	return await connect(connectionOptions(options, name));
}

function connectionOptions({ url, credentials, password, ca }: BusOptions, name: string): ConnectionOptions {
	const { protocol, host, hostname, username, password: inUrl } = new URL(url);
	const [user, pass] = [decodeURIComponent(username), decodeURIComponent(inUrl) || password];
	const token = user || pass;
	const login = user === "" || pass === undefined ? token !== undefined && { token } : { user, pass };
	return {
		servers: host,
		name: `xs-mcp-gateway ${name}`,
		maxReconnectAttempts: -1,
		// A password may be changed in NATS first.
		ignoreAuthErrorAbort: true,
		reconnectTimeWait: RECONNECT_TIME,
		pingInterval: PING_INTERVAL,
		// Else each request makes two errors in advance, for their stacks.
		noAsyncTraces: true,
		...login,
		...(credentials !== undefined && { authenticator: credsAuthenticator(readFileSync(credentials)) }),
		...((protocol === "tls:" || ca !== undefined) && { tls: tlsOptions(hostname, ca) }),
	};
}

function tlsOptions(hostname: string, ca: string | undefined): TlsOptions & { readonly host: string } {
	// Without it, Node expects the certificate of an address to be for "localhost". NATS passes it on.
	const host = { host: hostname.replace(/^\[(.*)\]$/, "$1") };
	return ca === undefined ? host : { ...host, ca: readFileSync(ca, "utf8") };
}
