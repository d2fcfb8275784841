import { lookup as resolveName } from "node:dns";
import { get } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { CLIENT_METADATA, nameOf, type OAuthClient } from "./clients.js";

/** Largest document, bytes. */
const MAX_BYTES = 64 * 1024;

/**
 * A name that resolves wherever documents can be fetched, and the milliseconds for its resolution and for which the answer
 * holds.
 */
const PUBLIC_NAME = "modelcontextprotocol.io";
const RESOLVE_TIMEOUT = 2_000;
const RESOLVE_INTERVAL = 60_000;

/** Milliseconds for a document to arrive. */
const TIMEOUT = 5_000;

/** Milliseconds for which a document is not asked for again, and how many are kept. */
const CACHE_TIME = 300_000;
const MAX_CACHED = 100;

/** Documents that are fetched at the same time: for one address, and in all. */
const MAX_FETCHES_PER_ADDRESS = 4;
const MAX_FETCHES = 64;

const DOCUMENT = CLIENT_METADATA.extend({
	client_id: z.string(),
	token_endpoint_auth_method: z.literal("none").optional(),
});

/** A client's metadata document cannot be used. The message goes to the person who signs in. */
export class DocumentError extends Error {
	constructor(message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "DocumentError";
	}
}

interface MetadataDocumentsOptions {
	/** Resolves a hostname to its addresses. Default: the system's resolver. */
	readonly resolve?: LookupFunction | undefined;
	/** Whether an address may be connected to. Default: public ones. */
	readonly mayConnect?: (address: string) => boolean;
	/** Certificates that are trusted. Default: Node's. */
	readonly ca?: string;
}

/**
 * Clients whose id is the URL of their metadata (draft-ietf-oauth-client-id-metadata-document). Strangers choose the URL,
 * so only public addresses are asked, and nothing is followed: no redirect, no other scheme than https.
 */
export class MetadataDocuments {
	readonly #options: MetadataDocumentsOptions;
	readonly #cache = new LRUCache<string, OAuthClient>({ max: MAX_CACHED, ttl: CACHE_TIME });
	/** Under way, by URL. */
	readonly #fetches = new Map<string, { readonly address: string; readonly client: Promise<OAuthClient> }>();

	/** Whether a public name resolves, until when. */
	#online: { readonly answer: Promise<boolean>; readonly until: number } | undefined;

	constructor(options: MetadataDocumentsOptions = {}) {
		this.#options = options;
	}

	/** Whether documents can be fetched: without Internet, no public name resolves. Looked up once a minute at most. */
	async canBeFetched(): Promise<boolean> {
		if (this.#online === undefined || this.#online.until <= Date.now()) {
			this.#online = { answer: this.#resolves(PUBLIC_NAME), until: Date.now() + RESOLVE_INTERVAL };
		}
		return await this.#online.answer;
	}

	/** Whether a client's id is such a URL: https, with a path, and nothing that could make it another one. */
	static names(id: string): boolean {
		if (!URL.canParse(id) || id.length > 1_024) {
			return false;
		}
		const { href, protocol, pathname, username, password, hash } = new URL(id);
		return href === id && protocol === "https:" && pathname !== "/" && username + password + hash === "";
	}

	/**
	 * The client that a URL describes. Rejects with DocumentError.
	 *
	 * @param address of the person who signs in: slow documents of one address keep nobody else's away
	 */
	async find(url: string, address: string): Promise<OAuthClient> {
		const cached = this.#cache.get(url);
		if (cached !== undefined) {
			return cached;
		}
		const underWay = this.#fetches.get(url);
		if (underWay !== undefined) {
			return await underWay.client;
		}
		const own = [...this.#fetches.values()].filter((each) => each.address === address);
		if (own.length >= MAX_FETCHES_PER_ADDRESS || this.#fetches.size >= MAX_FETCHES) {
			throw new DocumentError("too many clients sign in at the same time: try again later");
		}
		const client = this.#read(url);
		this.#fetches.set(url, { address, client });
		return await client.finally(() => this.#fetches.delete(url));
	}

	async #read(url: string): Promise<OAuthClient> {
		const text = await this.#fetch(new URL(url));
		const { data, error } = DOCUMENT.safeParse(parse(text));
		if (error !== undefined) {
			const [issue] = error.issues;
			throw new DocumentError(`${issue?.path.join(".") || "content"}: ${issue?.message}`);
		}
		if (data.client_id !== url) {
			throw new DocumentError("client_id: not the URL of the document");
		}
		const client = { id: url, name: nameOf(data), redirectUris: data.redirect_uris };
		this.#cache.set(url, client);
		return client;
	}

	#fetch(url: URL): Promise<string> {
		const { ca } = this.#options;
		const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
		return new Promise((resolve, reject) => {
			const fail = (cause: Error) => reject(new DocumentError(`cannot be fetched: ${cause.message}`, { cause }));
			// Node connects to an address in the URL without asking for it.
			if (isIP(host) !== 0 && !this.#mayConnect(host)) {
				fail(new Error("not a public address"));
				return;
			}
			const options = {
				lookup: this.#lookup,
				agent: false,
				headers: { Accept: "application/json" },
				...(ca && { ca }),
			};
			const request = get(url, { ...options, signal: AbortSignal.timeout(TIMEOUT) }, (response) => {
				const chunks: Buffer[] = [];
				let bytes = 0;
				if (response.statusCode !== 200) {
					request.destroy(new Error(`HTTP status ${response.statusCode}`));
				}
				response.on("data", (chunk: Buffer) => {
					bytes += chunk.length;
					chunks.push(chunk);
					if (bytes > MAX_BYTES) {
						request.destroy(new Error(`more than ${MAX_BYTES} bytes`));
					}
				});
				response.on("end", () => resolve(Buffer.concat(chunks).toString()));
				response.on("error", fail);
			});
			request.on("error", fail);
		});
	}

	/** Resolves a name for the connection itself: nobody can change the answer between the check and the connection. */
	readonly #lookup: LookupFunction = (hostname, options, callback) => {
		const { resolve = resolveName as LookupFunction } = this.#options;
		resolve(hostname, options, (error, address, family) => {
			const addresses = typeof address === "string" ? [address] : (address?.map((each) => each.address) ?? []);
			const isAllowed = error === null && addresses.every((each) => this.#mayConnect(each));
			callback(isAllowed ? null : (error ?? new Error(`${hostname} has no public address`)), address, family);
		});
	};

	#resolves(name: string): Promise<boolean> {
		return new Promise((resolve) => {
			const timer = setTimeout(() => resolve(false), RESOLVE_TIMEOUT);
			this.#lookup(name, {}, (error) => {
				clearTimeout(timer);
				resolve(error === null);
			});
		});
	}

	#mayConnect(address: string): boolean {
		return (this.#options.mayConnect ?? isPublic)(address);
	}
}

/** Whether an address is of the public internet; one of IPv4 within IPv6 counts as what it is. */
function isPublic(address: string): boolean {
	return ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		throw new DocumentError("not JSON");
	}
}
