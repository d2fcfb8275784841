import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { describeIssues, jsonIn } from "xs-mcp-manager/core";
import * as z from "zod";
import { GatewayError } from "../gateway-error.js";
import { isPublicName, type PublicRequestOptions, requestPublic } from "../http/public-request.js";
import { CLIENT_METADATA, nameOf, type OAuthClient } from "./clients.js";

/** Largest document, bytes. */
const MAX_BYTES = 64 * 1024;

/** A name that resolves wherever documents can be fetched. Milliseconds for its resolution, and for which the answer holds. */
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

/**
 * Clients whose id is the URL of their metadata (draft-ietf-oauth-client-id-metadata-document). Strangers choose the URL,
 * so only public addresses are asked, and nothing is followed: no redirect, no other scheme than https.
 */
export class MetadataDocuments {
	readonly #options: Partial<PublicRequestOptions>;
	/** Clients by the URL of their document, fetched or being fetched. */
	readonly #clients = new LRUCache<string, Promise<OAuthClient>>({ max: MAX_CACHED, ttl: CACHE_TIME });
	/** Addresses of the persons for whom documents are fetched. */
	readonly #fetches: string[] = [];
	/** Whether a public name resolves, until when. */
	#online: { readonly answer: Promise<boolean>; readonly until: number } | undefined;

	constructor(options: Partial<PublicRequestOptions> = {}) {
		this.#options = options;
	}

	/** Whether documents can be fetched: without Internet, no public name resolves. Looked up once a minute at most. */
	async canBeFetched(): Promise<boolean> {
		if (this.#online === undefined || this.#online.until <= Date.now()) {
			const tooLate = delay(RESOLVE_TIMEOUT, false, { ref: false });
			const answer = Promise.race([isPublicName(PUBLIC_NAME, this.#options), tooLate]);
			this.#online = { answer, until: Date.now() + RESOLVE_INTERVAL };
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
	 * The client that a URL describes. Rejects with GatewayError, whose message goes to the person who signs in.
	 *
	 * @param address of the person: slow documents of one address do not delay those of others
	 */
	async find(url: string, address: string): Promise<OAuthClient> {
		const known = this.#clients.get(url);
		if (known !== undefined) {
			return await known;
		}
		const own = this.#fetches.filter((each) => each === address);
		if (own.length >= MAX_FETCHES_PER_ADDRESS || this.#fetches.length >= MAX_FETCHES) {
			throw unusable(url, "too many clients sign in at the same time: try again later");
		}
		const client = this.#read(url);
		this.#clients.set(url, client);
		this.#fetches.push(address);
		try {
			return await client;
		} catch (error) {
			this.#clients.delete(url);
			throw error;
		} finally {
			this.#fetches.splice(this.#fetches.indexOf(address), 1);
		}
	}

	async #read(url: string): Promise<OAuthClient> {
		const headers = { Accept: "application/json" };
		const options = { ...this.#options, headers, timeout: TIMEOUT, maxBytes: MAX_BYTES };
		const { status, body } = await requestPublic(new URL(url), options).catch(({ message }: Error) => {
			throw unusable(url, `cannot be fetched: ${message}`);
		});
		const document = status === 200 ? jsonIn(body) : undefined;
		if (document === undefined) {
			throw unusable(url, status === 200 ? "not JSON" : `cannot be fetched: HTTP status ${status}`);
		}
		const { data, error } = DOCUMENT.safeParse(document);
		if (error !== undefined) {
			throw unusable(url, describeIssues(error.issues, "content"));
		}
		if (data.client_id !== url) {
			throw unusable(url, "client_id: not the URL of the document");
		}
		return { id: url, name: nameOf(data), redirectUris: data.redirect_uris };
	}
}

function unusable(url: string, problem: string): GatewayError {
	return new GatewayError("invalid_client", `${url}: ${problem}`);
}
