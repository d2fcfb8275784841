import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { Connection } from "./connection.js";
import { ServerError } from "./errors.js";
import { digest } from "./names.js";
import { LIST_NAMES, LISTS, type ListName, type Offers, type ValidList, validList } from "./offers.js";

/** Milliseconds after which a slow server no longer counts towards the limit. */
const PLACE_TIME = 1_000;

/** Milliseconds after which the tools are reported without the other lists, which a server may leave unanswered. */
const OTHERS_TIME = 2_000;

/** Maximum number of checked lists in the cache, and of characters in each. */
const MAX_CHECKED = 100;
const MAX_CHECKED_CHARACTERS = 65_536;

/** The result of reading a server's lists. */
export interface Listed {
	/** The lists that were read. Lists that the server does not declare are empty. */
	readonly offers: Partial<Offers>;
	readonly failures: ReadonlyMap<ListName, Error>;
}

/**
 * Reads lists of a server: its tools, user-only ones included, and those that it declares. Items that are not valid MCP are
 * skipped. Never rejects: a list that fails does not affect the others.
 *
 * It calls `onListed` with the lists, while the connection is open. If they take longer than 2 s after the tools, it calls it
 * twice: with those read so far, and then with the rest.
 */
export type Discover = ReturnType<typeof makeDiscovery>;

/**
 * Makes a reader of the lists of servers.
 *
 * @param discoveries servers asked at the same time: thousands may connect at once after a power cut
 * @param timeout milliseconds that a server has for a list
 * @param warn called for each item that is skipped
 */
export function makeDiscovery(discoveries = 64, timeout = 30_000, warn: (message: string) => void) {
	const limit = pLimit(discoveries);
	/** Lists of devices that were checked, by their digest: thousands of a kind have the same. */
	const known = new LRUCache<string, ValidList<ListName>>({ max: MAX_CHECKED });

	const checkOnce = (list: ListName, listed: readonly unknown[], check: () => ValidList<ListName>) => {
		const text = JSON.stringify(listed);
		const key = list + digest(text);
		const checked = known.get(key) ?? check();
		if (text.length <= MAX_CHECKED_CHARACTERS) {
			known.set(key, checked);
		}
		return checked;
	};

	const readItems = async (connection: Connection, list: ListName): Promise<readonly unknown[]> => {
		const { id, configured } = connection.identity;
		const listed = await listOf(connection, list, timeout);
		const check = () => validList(list, listed, (item) => connection.problemOf(list, item));
		const { items, problems } = configured ? check() : checkOnce(list, listed, check);
		for (const problem of problems) {
			warn(`${id}: ${LISTS[list].method}: ${problem}`);
		}
		return items;
	};

	const listAll = async (
		connection: Connection,
		lists: readonly ListName[],
		onListed: (listed: Listed) => void,
	): Promise<void> => {
		let offers: Partial<Record<ListName, readonly unknown[]>> = {};
		let failures = new Map<ListName, Error>();
		const report = (): void => {
			if (connection.isOpen && (failures.size > 0 || Object.keys(offers).length > 0)) {
				onListed({ offers: offers as Partial<Offers>, failures });
			}
			[offers, failures] = [{}, new Map()];
		};
		const isAsked = (list: ListName): boolean => list === "tools" || connection.declares(LISTS[list].capability);
		const asked = LIST_NAMES.filter((list) => lists.includes(list) && isAsked(list));
		const read = async (list: ListName): Promise<void> => {
			try {
				const items = await readItems(connection, list);
				offers[list] = items;
			} catch (error) {
				failures.set(list, error as Error);
			}
		};
		// A device gets one request at a time, because it has little memory. The tools come first.
		const turns = pLimit(connection.identity.configured ? LIST_NAMES.length : 1);
		const reads = asked.map((list) => turns(() => read(list)));
		await (asked[0] === "tools" && reads[0]);
		const all = Promise.all(reads);
		if (!(await settledWithin(OTHERS_TIME, all)) && Object.keys(offers).length > 0) {
			report();
		}
		await all;
		if (asked.length === 0 || failures.size < asked.length) {
			for (const list of lists.filter((each) => !asked.includes(each))) {
				offers[list] = [];
			}
		}
		report();
	};

	return async (...request: Parameters<typeof listAll>): Promise<void> => {
		let listed: Promise<void> | undefined;
		await limit(async () => {
			listed = listAll(...request);
			await settledWithin(PLACE_TIME, listed);
		});
		await listed;
	};
}

async function listOf(connection: Connection, list: ListName, timeout: number): Promise<unknown[]> {
	const signal = AbortSignal.timeout(timeout);
	try {
		return await connection.list(list, signal);
	} catch (error) {
		// Templates are optional for a server with resources, and a server without tools need not know their list.
		const isOptional = list === "resourceTemplates" || !connection.declares(LISTS[list].capability);
		if (isOptional && ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.MethodNotFound) {
			return [];
		}
		throw signal.aborted
			? new ServerError("timeout", `no complete list within ${timeout / 1000} s`, { cause: error })
			: error;
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
