import { createHash } from "node:crypto";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import type { Connection } from "./connection.js";
import { ServerError } from "./errors.js";
import { LISTS, type ListName, type Offers, type ValidList, validList } from "./offers.js";

export interface DiscoveryOptions {
	/** Servers asked at the same time. Default 64: thousands may connect at once after a power cut. */
	readonly discoveries?: number;
	/** Milliseconds that a server has for a list. Default 30,000. */
	readonly discoveryTimeout?: number;
}

/** Milliseconds after which a slow server frees its place in the limit. */
const PLACE_TIME = 1_000;

/** Milliseconds that the tools wait for the other lists, which a server may leave unanswered. */
const OTHERS_TIME = 2_000;

/** Most lists that are kept after they were checked, and characters of each. */
const MAX_CHECKED = 100;
const MAX_CHECKED_CHARACTERS = 65_536;

/** The answer of a server. */
export interface Listed {
	/** The lists that were read. Lists that the server does not declare are empty. */
	readonly offers: Partial<Offers>;
	/** Why other lists could not be read. */
	readonly failures: ReadonlyMap<ListName, Error>;
}

/** Reads the lists of servers, a limited number at the same time. */
export class Discovery {
	/** Milliseconds that a server has for a list. */
	readonly #timeout: number;
	readonly #warn: (message: string) => void;
	readonly #limit;
	/** Lists of devices by their digest, the oldest first: thousands of a kind have the same. */
	readonly #checked = new Map<string, ValidList<ListName>>();

	/** @param warn called for each item that is skipped */
	constructor({ discoveries = 64, discoveryTimeout = 30_000 }: DiscoveryOptions, warn: (message: string) => void) {
		this.#timeout = discoveryTimeout;
		this.#warn = warn;
		this.#limit = pLimit(discoveries);
	}

	/**
	 * Reads lists of a server: its tools, user-only ones included, and those that it declares. Items that are not
	 * valid MCP are skipped: one of them would make a client reject the whole list, with the items of other servers.
	 * A list that fails costs the others nothing. Never rejects.
	 *
	 * @param onListed is called with the tools and what else is there after 2 s, and once more with the rest. Not called after
	 * the end of the connection
	 */
	async list(connection: Connection, lists: readonly ListName[], onListed: (listed: Listed) => void): Promise<void> {
		let listed: Promise<void> | undefined;
		await this.#limit(async () => {
			listed = this.#listAll(connection, lists, onListed);
			await settledWithin(PLACE_TIME, listed);
		});
		await listed;
	}

	async #listAll(
		connection: Connection,
		lists: readonly ListName[],
		onListed: (listed: Listed) => void,
	): Promise<void> {
		let offers: Partial<Record<ListName, readonly unknown[]>> = {};
		let failures = new Map<ListName, Error>();
		const report = (): void => {
			if (connection.isOpen && (failures.size > 0 || Object.keys(offers).length > 0)) {
				onListed({ offers: offers as Partial<Offers>, failures });
			}
			[offers, failures] = [{}, new Map()];
		};
		const isDeclared = (list: ListName): boolean => connection.declares(LISTS[list].capability);
		const asked = lists.filter((list) => list === "tools" || isDeclared(list));
		const read = async (list: ListName): Promise<void> => {
			try {
				const items = this.#validItems(connection, list, await this.#list(connection, list));
				offers[list] = items;
			} catch (error) {
				failures.set(list, error as Error);
			}
		};
		const tools = asked.includes("tools") ? read("tools") : Promise.resolve();
		const rest = asked.filter((list) => list !== "tools");
		// One after the other of a device, because it has little memory.
		const inTurn = async (): Promise<void> => {
			await tools;
			for (const list of rest) {
				await read(list);
			}
		};
		const others = connection.identity.configured ? Promise.all(rest.map(read)) : inTurn();
		await tools;
		if (!(await settledWithin(OTHERS_TIME, others)) && Object.keys(offers).length > 0) {
			report();
		}
		await others;
		if (asked.length === 0 || failures.size < asked.length) {
			for (const list of lists.filter((each) => !asked.includes(each))) {
				offers[list] = [];
			}
		}
		report();
	}

	async #list(connection: Connection, list: ListName): Promise<unknown[]> {
		const signal = AbortSignal.timeout(this.#timeout);
		try {
			return await connection.list(list, signal);
		} catch (error) {
			// Templates are optional for a server with resources, and a server without tools need not know their list.
			const isOptional = list === "resourceTemplates" || !connection.declares(LISTS[list].capability);
			if (isOptional && ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.MethodNotFound) {
				return [];
			}
			throw signal.aborted
				? new ServerError("timeout", `no complete list within ${this.#timeout / 1000} s`, { cause: error })
				: error;
		}
	}

	#validItems(connection: Connection, list: ListName, listed: readonly unknown[]): readonly unknown[] {
		const check = () => validList(list, listed, (item) => connection.problemOf(list, item));
		const { items, problems } = connection.identity.configured ? check() : this.#checkOnce(list, listed, check);
		for (const problem of problems) {
			this.#warn(`${connection.identity.id}: ${LISTS[list].method}: ${problem}`);
		}
		return items;
	}

	#checkOnce(list: ListName, listed: readonly unknown[], check: () => ValidList<ListName>): ValidList<ListName> {
		const text = JSON.stringify(listed);
		const digest = list + createHash("sha256").update(text).digest("base64");
		const known = this.#checked.get(digest);
		if (known !== undefined) {
			return known;
		}
		const checked = check();
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

/** Settles with a promise, or after `time` ms. Never rejects. Returns whether the promise has settled. */
async function settledWithin(time: number, promise: Promise<unknown>): Promise<boolean> {
	return await new Promise<boolean>((resolve) => {
		const timer = setTimeout(() => resolve(false), time);
		const settled = (): void => {
			clearTimeout(timer);
			resolve(true);
		};
		promise.then(settled, settled);
	});
}
