import { setTimeout as delay } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { isObject } from "../firmware.js";
import { ServerError } from "./errors.js";
import { LISTS, type ListName, type Offers, validItem } from "./offers.js";
import type { Session } from "./session.js";

export interface DiscoveryOptions {
	/** Servers asked at the same time. Default 64: thousands may connect at once after a power cut. */
	readonly discoveries?: number;
	/** Milliseconds that a server has for a list. Default 30,000. */
	readonly discoveryTimeout?: number;
	/** Is called for each item that is skipped. */
	readonly warn: (message: string) => void;
}

/** Milliseconds after which a slow server frees its place in the limit. */
const PLACE_TIME = 1_000;

/** Reads the lists of servers, a limited number at the same time. */
export class Discovery {
	readonly #options: DiscoveryOptions;
	readonly #limit;

	constructor(options: DiscoveryOptions) {
		this.#options = options;
		this.#limit = pLimit(options.discoveries ?? 64);
	}

	/**
	 * Reads lists of a server: its tools, user-only ones included, and those that it declares. Items that are not
	 * valid MCP are skipped: one of them would make a client reject the whole list, with the items of other servers.
	 *
	 * Rejects with ServerError "timeout" when a list is not complete in time, and as {@link Session.list} does.
	 */
	async list(session: Session, lists: readonly ListName[]): Promise<Partial<Offers>> {
		let listed: Promise<Partial<Offers>> | undefined;
		await this.#limit(async () => {
			listed = this.#listAll(session, lists);
			const done = new AbortController();
			const place = delay(PLACE_TIME, undefined, { signal: done.signal }).catch(() => {});
			// A failure is reported below.
			await Promise.race([listed.catch(() => {}), place]);
			done.abort();
		});
		return (await listed) as Partial<Offers>;
	}

	async #listAll(session: Session, lists: readonly ListName[]): Promise<Partial<Offers>> {
		const offers: Partial<Record<ListName, unknown[]>> = {};
		for (const list of lists) {
			offers[list] = this.#validItems(session, list, await this.#list(session, list));
		}
		return offers as Partial<Offers>;
	}

	async #list(session: Session, list: ListName): Promise<unknown[]> {
		if (list !== "tools" && !session.declares(LISTS[list].capability)) {
			return [];
		}
		const { discoveryTimeout = 30_000 } = this.#options;
		const signal = AbortSignal.timeout(discoveryTimeout);
		try {
			return await session.list(list, { withUserTools: list === "tools", signal });
		} catch (error) {
			if (list !== "tools" && ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.MethodNotFound) {
				// Templates are optional for a server with resources.
				return [];
			}
			throw signal.aborted
				? new ServerError("timeout", `no complete list within ${discoveryTimeout / 1000} s`, { cause: error })
				: error;
		}
	}

	#validItems(session: Session, list: ListName, listed: readonly unknown[]): unknown[] {
		const { key, method } = LISTS[list];
		const items = new Map<unknown, unknown>();
		for (const item of listed) {
			const valid = validItem(list, item) as Record<string, unknown> | undefined;
			const problem =
				valid === undefined || items.has(valid[key]) ? "invalid or duplicate" : session.problemOf(list, valid);
			if (valid === undefined || problem !== undefined) {
				const name = isObject(item) ? String(JSON.stringify(item[key])).slice(0, 100) : "?";
				this.#options.warn(`${session.identity.id}: ${method}: ${name} skipped: ${problem}`);
			} else {
				items.set(valid[key], valid);
			}
		}
		return [...items.values()];
	}
}
