import {
	isSpecType,
	type Prompt,
	type Resource,
	type ResourceTemplateType,
	type Tool,
} from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import * as z from "zod";
import type { Entry, Store } from "../store/store.js";
import { describeIssues, ServerError } from "./errors.js";
import { digest } from "./names.js";
import { RateLimit, withoutNulls } from "./received.js";
import { withValid } from "./results.js";
import type { Server } from "./server.js";
import { usableInputSchema, usableOutputSchema } from "./usable-schema.js";

/** A tool as a server lists it. */
export type ServerTool = Tool;

/** Everything that a server lists, each in the server's own order. Lists are replaced, never changed. */
export interface Offers {
	/** User-only tools included. */
	readonly tools: readonly ServerTool[];
	readonly resources: readonly Resource[];
	readonly resourceTemplates: readonly ResourceTemplateType[];
	readonly prompts: readonly Prompt[];
}

/** A list of a server. */
export type ListName = keyof Offers;

type Members = Record<string, unknown>;

/**
 * Describes how a list is requested, which notification reports a change, and the items that it may have. A server must declare the
 * capability; tools are always listed.
 *
 * @param required members that an item needs; items differ by the first one, the key
 * @param members the members that MCP defines, in the order in which they are listed
 */
function listKind(
	method: string,
	required: readonly [string, ...string[]],
	members: string,
	isValid: (item: unknown) => boolean,
) {
	const capability = method.split("/")[0] as "tools" | "resources" | "prompts";
	const changed = `notifications/${capability}/list_changed`;
	return { method, capability, changed, key: required[0], required, members: members.split(" "), isValid };
}

export const LISTS: Readonly<Record<ListName, ReturnType<typeof listKind>>> = {
	tools: listKind(
		"tools/list",
		["name", "inputSchema"],
		"name title description inputSchema outputSchema annotations icons _meta execution",
		isSpecType.Tool,
	),
	resources: listKind(
		"resources/list",
		["uri", "name"],
		"uri name title description mimeType annotations icons _meta size",
		isSpecType.Resource,
	),
	resourceTemplates: listKind(
		"resources/templates/list",
		["uriTemplate", "name"],
		"uriTemplate name title description mimeType annotations icons _meta",
		isSpecType.ResourceTemplate,
	),
	prompts: listKind("prompts/list", ["name"], "name title description arguments icons _meta", isSpecType.Prompt),
};

export const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** The methods of notifications of changed lists. Templates change with resources. */
export const LIST_CHANGES: ReadonlySet<string> = new Set(Object.values(LISTS).map(({ changed }) => changed));

export const NO_OFFERS: Offers = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

/** Items of a list that clients may get, and what was left out. */
export interface ValidList<List extends ListName> {
	readonly items: Offers[List];
	readonly problems: readonly string[];
}

/**
 * Returns the items of a list that are valid MCP, without optional members that are not: a client would reject the whole list, with
 * the items of other servers. `problemOf` says why a valid item cannot be offered.
 */
export function validList<List extends ListName>(
	list: List,
	listed: readonly unknown[],
	problemOf: (item: Readonly<Members>) => string | undefined = () => undefined,
): ValidList<List> {
	const { key } = LISTS[list];
	const items = new Map<unknown, unknown>();
	const problems: string[] = [];
	for (const each of listed) {
		const { item, notes } = readItem(list, each);
		const name = isObject(each) ? String(JSON.stringify(each[key])).slice(0, MAX_QUOTE) : "an item";
		const skipped = item === undefined ? notes[0] : items.has(item[key]) ? `the ${key} comes twice` : problemOf(item);
		if (item === undefined || skipped !== undefined) {
			problems.push(`${name} skipped: ${skipped}`);
		} else {
			items.set(item[key], item);
			problems.push(...notes.map((note) => `${name}: ${note}`));
		}
	}
	return { items: [...items.values()] as unknown as Offers[List], problems };
}

/** Characters of a name or a cursor, for a problem. */
const MAX_QUOTE = 100;

/** Returns the valid members of an item, and notes on the others; only the reason if the item cannot be used. */
function readItem(list: ListName, given: unknown): { readonly item?: Members; readonly notes: readonly string[] } {
	if (!isObject(given)) {
		return { notes: ["not an object"] };
	}
	const { members, notes } =
		list === "tools" ? readTool(withoutNulls(given)) : { members: withoutNulls(given), notes: [] };
	const pick = (names: readonly string[], from: Members) =>
		present(Object.fromEntries(names.map((name) => [name, from[name]])));
	const { required, isValid } = LISTS[list];
	const wrong = required.find((name) => members[name] === undefined || members[name] === "");
	const whole = pick(LISTS[list].members, members);
	const { value: item, dropped } = withValid<Members>(pick(required, members), whole, isValid);
	return item === undefined || wrong !== undefined
		? { notes: [`its ${wrong ?? required.join(" or ")} is ${wrong === undefined ? "invalid" : "missing"}`] }
		: {
				item: pick(LISTS[list].members, item),
				notes: [...notes, ...dropped.map((name) => `its ${name} is invalid and was left out`)],
			};
}

/** Makes a tool's schemas usable, and drops invalid hints. The others are kept, because some of them restrict. */
function readTool({ inputSchema, outputSchema, annotations, execution, ...rest }: Members) {
	const { schema, problem } = usableOutputSchema(outputSchema);
	// 2025-11-25: only a tool that can run as a task needs to declare it.
	const taskSupport = isObject(execution) ? execution.taskSupport : undefined;
	const isLong = taskSupport === "optional" || taskSupport === "required";
	const valid = Object.entries(isObject(annotations) ? annotations : {}).filter(
		([name, value]) => !(name in HINTS) || typeof value === HINTS[name as keyof typeof HINTS],
	);
	const members: Members = {
		...rest,
		inputSchema: usableInputSchema(inputSchema),
		...(schema !== undefined && { outputSchema: schema }),
		...(valid.length > 0 && { annotations: Object.fromEntries(valid) }),
		...(isLong && { execution }),
	};
	return {
		members,
		notes: problem === undefined ? [] : [`its outputSchema cannot be compiled and was left out: ${problem}`],
	};
}

const HINTS = {
	title: "string",
	readOnlyHint: "boolean",
	destructiveHint: "boolean",
	idempotentHint: "boolean",
	openWorldHint: "boolean",
} as const;

/** Returns a tool without its support of tasks, which are not relayed. */
export function withoutExecution({ execution: _, ...tool }: ServerTool): ServerTool {
	return tool;
}

/** The members that are not undefined. */
export function present<Members extends object>(members: Members): Partial<Members> {
	return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;
}

/** Limits of a list. */
const MAX_PAGES = 1_000;
const MAX_ITEMS = 1_000;
const MAX_LIST_CHARACTERS = 4 * 1024 * 1024;

/**
 * Reads a whole list page by page, starting with an empty cursor. Its items are not checked. Rejects with ServerError
 * "invalid-result" if a page is invalid, a cursor is repeated, or the list is too large.
 */
export async function readList(list: ListName, readPage: (cursor: string) => Promise<object>): Promise<unknown[]> {
	const fail = (problem: string) => new ServerError("invalid-result", problem);
	const items: unknown[] = [];
	const cursors = new Set<string>();
	let cursor = "";
	let characters = 0;
	while (cursors.size < MAX_PAGES) {
		if (cursors.has(cursor)) {
			throw fail(`the cursor ${JSON.stringify(cursor).slice(0, MAX_QUOTE)} comes twice`);
		}
		cursors.add(cursor);
		const { [list]: listed, nextCursor = null }: Readonly<Record<string, unknown>> = { ...(await readPage(cursor)) };
		if (!Array.isArray(listed)) {
			throw fail(`${list}: expected a list`);
		}
		items.push(...listed);
		characters += JSON.stringify(listed).length;
		if (items.length > MAX_ITEMS || characters > MAX_LIST_CHARACTERS) {
			throw fail(`list too large (${items.length} items, ${characters} characters)`);
		}
		if (nextCursor === null || nextCursor === "") {
			return items;
		}
		if (typeof nextCursor !== "string") {
			throw fail("nextCursor: expected a string");
		}
		cursor = nextCursor;
	}
	throw fail(`more than ${MAX_PAGES} pages`);
}

/** Key prefix in the store. The hash of the lists follows. */
export const OFFERS = "offers/";

/** Number of lists that a device may store in a burst, and milliseconds until it may store one more. */
const MAX_CHANGES = 20;
const CHANGE_TIME = 300_000;

const SCHEMA = z.object({
	tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal("object") }) })),
	resources: z.array(z.looseObject({ uri: z.string(), name: z.string() })).optional(),
	resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string(), name: z.string() })).optional(),
	prompts: z.array(z.looseObject({ name: z.string() })).optional(),
});

/** The lists of servers, in memory and in the store, by their hash: devices of one firmware share one object and one entry. */
export type StoredOffers = ReturnType<typeof openStoredOffers>;

/** Opens the lists in a store. */
export function openStoredOffers(store: Store, warn: (message: string) => void) {
	const objects = new Map<string, WeakRef<Offers>>();
	const hashes = new WeakMap<Offers, string>();
	const freed = new FinalizationRegistry<string>((hash) => {
		// Equal lists may have been added since.
		if (objects.get(hash)?.deref() === undefined) {
			objects.delete(hash);
		}
	});
	/** Parsed lists by the value of their entry; undefined: not valid. */
	const read = new WeakMap<object, Offers | undefined>();
	const writes = new Map<string, Promise<Entry>>();
	/** Rate limit of each server, with the last counted hash: a retry does not count. */
	const counted = new WeakMap<Server, { readonly limit: RateLimit; hash: string }>();
	/** Keys that no device used at the last check. */
	let unused = new Set<string>();

	const hashOf = (offers: Offers): string => {
		const hash = hashes.get(offers) ?? hashOfOffers(offers);
		hashes.set(offers, hash);
		return hash;
	};

	/** Returns the shared object with these lists. */
	const share = (offers: Offers): Offers => {
		const hash = hashOf(offers);
		const shared = objects.get(hash)?.deref();
		if (shared === undefined) {
			objects.set(hash, new WeakRef(offers));
			freed.register(offers, hash);
		}
		return shared ?? offers;
	};

	return {
		hashOf,
		share,
		/** The lists with this hash; undefined: they are not stored, or cannot be read. */
		get(hash: string): Offers | undefined {
			const value = store.get(OFFERS + hash)?.value as object | undefined;
			if (value !== undefined && !read.has(value)) {
				const { error } = SCHEMA.safeParse(value);
				if (error !== undefined) {
					warn(`${OFFERS}${hash}: not lists of a device: ${describeIssues(error.issues, "content")}`);
				}
				// Not the result of the schema, whose members have another order: equal lists are found by their JSON.
				read.set(value, error ? undefined : share({ ...NO_OFFERS, ...value }));
			}
			return value && read.get(value);
		},
		/** Stores the lists of a device. Returns their hash. Rejects with StoreError, and with RangeError if they change too often. */
		async save(device: Server): Promise<string> {
			const { offers } = device;
			const hash = hashOf(offers);
			const key = OFFERS + hash;
			const isStored = store.get(key) !== undefined;
			// Written again if no device has used them: another gateway may be about to remove this revision.
			if (isStored && !unused.delete(key)) {
				return hash;
			}
			const changes = counted.get(device) ?? { limit: new RateLimit(1_000 / CHANGE_TIME, MAX_CHANGES), hash: "" };
			counted.set(device, changes);
			const writing = writes.get(key);
			if (writing === undefined && !isStored && hash !== changes.hash && !changes.limit.take()) {
				const minutes = CHANGE_TIME / 60_000;
				throw new RangeError(`they change too often (limit ${MAX_CHANGES}, then one in ${minutes} minutes)`);
			}
			changes.hash = hash;
			const written = writing ?? store.set(key, offers);
			writes.set(key, written);
			try {
				await written;
			} finally {
				writes.delete(key);
			}
			return hash;
		},
		/** Removes lists that no device used at this check and the previous one. The next check retries failed removals. */
		async removeUnused(used: ReadonlySet<unknown>): Promise<void> {
			const found = store.list(OFFERS).filter(({ key }) => !used.has(key.slice(OFFERS.length)));
			const before = unused;
			unused = new Set(found.map(({ key }) => key));
			for (const { key, revision } of found.filter((entry) => before.has(entry.key))) {
				await store.delete(key, revision).catch(() => {});
			}
		},
	};
}

/** The hash by which lists are stored. */
export function hashOfOffers({ tools, resources, resourceTemplates, prompts }: Offers): string {
	const text = JSON.stringify({ tools, resources, resourceTemplates, prompts });
	return digest(text).slice(0, 32);
}
