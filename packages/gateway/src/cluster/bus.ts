import { readFileSync } from "node:fs";
import {
	connect,
	credsAuthenticator,
	errors,
	headers,
	type Msg,
	type NatsConnection,
	type PublishOptions,
	type TlsOptions,
} from "@nats-io/transport-node";
import type { Configuration } from "../config/settings.js";
import { subjectsOf } from "./messages.js";

/** The settings by which a gateway reaches NATS. */
type NatsSettings = Pick<Configuration, "clusterCredentials" | "clusterPassword" | "clusterCa">;

/** Milliseconds between attempts to reach NATS again. */
const RECONNECT_TIME = 500;

/** Milliseconds between pings that find a dead connection to NATS; the second one without an answer ends it. */
const PING_INTERVAL = 3_000;

/** Milliseconds in which NATS reports that a message has no receiver. */
const ANSWER_TIME = 1_000;

/** Bytes of a message that are left for its subject and headers. */
const MESSAGE_OVERHEAD = 1_024;

/** Limit of refused subjects that are reported. */
const MAX_REFUSED = 20;

/** The header of a part of a long message: "2/5". */
const PART = "Xs-Mcp-Part";

/** The messages of a cluster, over a connection to NATS. */
export class Bus {
	readonly subjects: ReturnType<typeof subjectsOf>;
	readonly #connection: NatsConnection;
	#connected = true;
	/** The first subscription that NATS has refused. */
	#refused: Error | undefined;

	/** @param onRefused called once for each subject that NATS does not allow */
	constructor(connection: NatsConnection, prefix: string, onRefused: (message: string) => void) {
		this.#connection = connection;
		this.subjects = subjectsOf(prefix);
		void this.#follow(onRefused);
	}

	get connected(): boolean {
		return this.#connected;
	}

	/** Bytes of a message. */
	get maxBytes(): number {
		return (this.#connection.info?.max_payload ?? 1024 * 1024) - MESSAGE_OVERHEAD;
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
		const options: PublishOptions = reply === undefined ? {} : { reply };
		for (let part = 1; part <= parts; part += 1) {
			if (parts > 1) {
				options.headers = headers();
				options.headers.set(PART, `${part}/${parts}`);
			}
			this.#connection.publish(subject, bytes.subarray((part - 1) * this.maxBytes, part * this.maxBytes), options);
		}
	}

	/** Whether anybody receives a subject. */
	async hasReceiver(subject: string): Promise<boolean> {
		try {
			await this.#connection.request(subject, "{}", { timeout: ANSWER_TIME });
			return true;
		} catch (error) {
			// A receiver does not answer.
			return !(error instanceof errors.RequestError && error.isNoResponders());
		}
	}

	/** Settles when everything that was published before has arrived at NATS. */
	async flush(): Promise<void> {
		await this.#connection.flush();
	}

	async #follow(onRefused: (message: string) => void): Promise<void> {
		const refused = new Set<string>();
		for await (const status of this.#connection.status()) {
			if (status.type === "disconnect") {
				this.#connected = false;
			} else if (status.type === "reconnect") {
				this.#connected = true;
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

/** Which part of a long message this is; undefined if it is whole. */
export function partOf({ headers: more }: Msg): { readonly part: number; readonly parts: number } | undefined {
	const [part, parts] = (more?.get(PART) ?? "").split("/").map(Number);
	return part !== undefined && parts !== undefined ? { part, parts } : undefined;
}

/** Whether NATS reports that the subject of a message has no receiver. */
export function hasNoResponder({ headers: more }: Msg): boolean {
	return more?.code === 503;
}

/**
 * Connects to NATS; the connection comes back by itself. Rejects if it cannot be reached, or does not accept the credentials.
 *
 * @param url nats://HOST:4222 or tls://HOST:4222, perhaps with user name and password, or with a token alone
 * @param name of this gateway
 */
export async function connectToNats(url: string, name: string, settings: NatsSettings): Promise<NatsConnection> {
	const { clusterCredentials: credentials, clusterPassword, clusterCa: ca } = settings;
	const { protocol, host, hostname, username, password } = new URL(url);
	const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password) || clusterPassword];
	const token = user || pass;
	const tls: TlsOptions & { readonly host: string } = {
		// Without it, Node expects the certificate of an address to be for "localhost". NATS passes it on.
		host: hostname.replace(/^\[(.*)\]$/, "$1"),
		...(ca !== undefined && { ca: readFileSync(ca, "utf8") }),
	};
	const login = user === "" || pass === undefined ? token !== undefined && { token } : { user, pass };
	return await connect({
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
		...((protocol === "tls:" || ca !== undefined) && { tls }),
	});
}
