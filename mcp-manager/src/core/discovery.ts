import { createHash } from "node:crypto";
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

/** Most lists that are kept after they were checked, and characters of each. */
const MAX_CHECKED = 100;
const MAX_CHECKED_CHARACTERS = 65_536;

/** A list that was checked. */
interface Checked {
	readonly items: readonly unknown[];
	/** Why items were skipped. */
	readonly problems: readonly string[];
}

/** Reads the lists of servers, a limited number at the same time. */
export class Discovery {
	readonly #options: DiscoveryOptions;
	readonly #limit;
	/** Lists of devices by their digest, the oldest first: thousands of a kind have the same. */
	readonly #checked = new Map<string, Checked>();

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
			// A failure is reported below.
			await settledWithin(PLACE_TIME, listed);
		});
		return (await listed) as Partial<Offers>;
	}

	async #listAll(session: Session, lists: readonly ListName[]): Promise<Partial<Offers>> {
		const offers: Partial<Record<ListName, readonly unknown[]>> = {};
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

	#validItems(session: Session, list: ListName, listed: readonly unknown[]): readonly unknown[] {
		const { items, problems } = session.identity.configured
			? check(session, list, listed)
			: this.#checkOnce(session, list, listed);
		for (const problem of problems) {
			this.#options.warn(`${session.identity.id}: ${LISTS[list].method}: ${problem}`);
		}
		return items;
	}

	#checkOnce(session: Session, list: ListName, listed: readonly unknown[]): Checked {
		const text = JSON.stringify(listed);
		const digest = list + createHash("sha256").update(text).digest("base64");
		const known = this.#checked.get(digest);
		if (known !== undefined) {
			return known;
		}
		const checked = check(session, list, listed);
		if (text.length <= MAX_CHECKED_CHARACTERS) {
			this.#checked.set(digest, checked);
		}
		const [oldest] = this.#checked.keys();
		if (oldest !== undefined && this.#checked.size > MAX_CHECKED) {
			this.#checked.delete(oldest);
		}
		return checked;
	}
}

function check(session: Session, list: ListName, listed: readonly unknown[]): Checked {
	const { key } = LISTS[list];
	const items = new Map<unknown, unknown>();
	const problems: string[] = [];
	for (const item of listed) {
		const valid = validItem(list, item) as Record<string, unknown> | undefined;
		const problem =
			valid === undefined || items.has(valid[key]) ? "invalid or duplicate" : session.problemOf(list, valid);
		if (valid === undefined || problem !== undefined) {
			const name = isObject(item) ? String(JSON.stringify(item[key])).slice(0, 100) : "?";
			problems.push(`${name} skipped: ${problem}`);
		} else {
			items.set(valid[key], valid);
		}
	}
	return { items: [...items.values()], problems };
}

/** Settles with a promise, or after `time` ms. Never rejects. */
async function settledWithin(time: number, promise: Promise<unknown>): Promise<void> {
	await new Promise<void>((resolve) => {
		const timer = setTimeout(resolve, time);
		const settled = (): void => {
			clearTimeout(timer);
			resolve();
		};
		promise.then(settled, settled);
	});
}
