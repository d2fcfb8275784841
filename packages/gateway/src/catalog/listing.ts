import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { isUserOnly, type Server, type ServerPrompt, type ServerTool, withoutExecution } from "xs-mcp-manager/core";
import { likenessOf } from "./groups.js";
import { ALIAS_SEPARATOR, type Lookup, type NamedItem, type Naming, sharedLists } from "./shared-list.js";
import { clientUri, stateResource } from "./state-resource.js";
import { toolHints } from "./tool-hints.js";

/** Which of a server's tools a client may see and call. */
export interface Allowed {
	readonly userTools: boolean;
	/** Only tools that are known to be read-only. */
	readonly readOnly: boolean;
}

/** Makes a function that derives a value from a list of a server. The value is kept as long as list and alias are the same. */
function perServer<Item extends object, Value>() {
	const kept = new WeakMap<
		Server,
		{ readonly items: readonly Item[]; readonly alias: string; readonly value: Value }
	>();
	return (server: Server, items: readonly Item[], make: () => Value): Value => {
		const { alias } = server;
		const known = kept.get(server);
		if (known?.items === items && known.alias === alias) {
			return known.value;
		}
		const value = make();
		kept.set(server, { items, alias, value });
		return value;
	};
}

/** Makes the functions for one naming. */
const derived = () => ({
	namedTools: perServer<ServerTool, readonly NamedItem<Tool>[]>(),
	/** For each {@link Allowed}. */
	tools: Array.from({ length: 4 }, () => perServer<ServerTool, readonly Tool[]>()),
	prompts: perServer<ServerPrompt, readonly Prompt[]>(),
	resources: perServer<Resource, readonly Resource[]>(),
	templates: perServer<ResourceTemplateType, readonly ResourceTemplateType[]>(),
});

/** Most servers have neither prompts nor templates. */
const NONE: readonly never[] = [];

/** Servers' lists as clients see them. */
export type Listings = ReturnType<typeof makeListings>;

/**
 * Makes servers' lists as clients see them. A derived list stays the same object while the server has the same
 * list and alias. So catalogs notice changes cheaply, and do not rebuild the lists of thousands of servers.
 */
export function makeListings(configured?: Parameters<typeof toolHints>[0]) {
	const toolLists = sharedLists<ServerTool>((tool) => withoutExecution(hinted(tool)));
	const promptLists = sharedLists<ServerPrompt>(itself);
	const likenesses = new WeakMap<ServerTool, string>();
	const byNaming: Readonly<Record<Naming, ReturnType<typeof derived>>> = { portable: derived(), prefixed: derived() };
	const hints = toolHints(configured);
	const hinted = (tool: ServerTool): ServerTool => hints(tool.name, tool);
	/** Whether a client may see and call a tool. User-only tools, and tools without a read-only hint, need more rights. */
	const allows = (tool: ServerTool, { userTools, readOnly }: Allowed): boolean =>
		(userTools || !isUserOnly(tool)) && (!readOnly || hinted(tool).annotations?.readOnlyHint === true);
	const namedTools = (server: Server, naming: Naming): readonly NamedItem<Tool>[] =>
		byNaming[naming].namedTools(server, server.tools, () => toolLists(server.tools).named(server, naming));
	return {
		hinted,
		/** {@link likenessOf}, computed once: thousands of servers share tools. */
		likeness(tool: ServerTool): string {
			const likeness = likenesses.get(tool) ?? likenessOf(hinted(tool));
			likenesses.set(tool, likeness);
			return likeness;
		},
		allows,
		/** A server's tools as a client lists them. */
		tools(server: Server, naming: Naming, allowed: Allowed): readonly Tool[] {
			const made = byNaming[naming].tools[Number(allowed.userTools) + 2 * Number(allowed.readOnly)];
			const make = (): Tool[] =>
				namedTools(server, naming)
					.filter(({ item }) => allows(item, allowed))
					.map(({ listed }) => listed);
			return made?.(server, server.tools, make) ?? make();
		},
		/** How a client lists a tool of a server. */
		listed(server: Server, naming: Naming, tool: ServerTool): Tool {
			const named = namedTools(server, naming).find(({ item }) => item === tool);
			return named?.listed ?? tool;
		},
		findTool: (server: Server, naming: Lookup, name: string): ServerTool | undefined =>
			toolLists(server.tools).find(name, server, naming),
		/** A server's prompts as a client lists them. */
		prompts(server: Server, naming: Naming): readonly Prompt[] {
			const { prompts } = server.offers;
			return prompts.length === 0
				? NONE
				: byNaming[naming].prompts(server, prompts, () =>
						promptLists(prompts)
							.named(server, naming)
							.map(({ listed }) => listed),
					);
		},
		findPrompt: (server: Server, naming: Lookup, name: string): ServerPrompt | undefined =>
			promptLists(server.offers.prompts).find(name, server, naming),
		/** A server's state, and its resources as a client lists them. */
		resources(server: Server, naming: Naming): readonly Resource[] {
			const { resources } = server.offers;
			return byNaming[naming].resources(server, resources, () => {
				const state = stateResource(server);
				const listed = resources.map(naming === "prefixed" ? withAlias(server, "uri") : itself);
				return [state, ...listed.filter(({ uri }) => uri !== state.uri)];
			});
		},
		/** A server's templates of resources as a client lists them. */
		templates(server: Server, naming: Naming): readonly ResourceTemplateType[] {
			const { resourceTemplates } = server.offers;
			return resourceTemplates.length === 0
				? NONE
				: byNaming[naming].templates(server, resourceTemplates, () =>
						resourceTemplates.map(naming === "prefixed" ? withAlias(server, "uriTemplate") : itself),
					);
		},
	};
}

function itself<Item>(item: Item): Item {
	return item;
}

/** The alias in a name that has one. */
export function aliasIn(name: string): string | undefined {
	const end = name.indexOf(ALIAS_SEPARATOR);
	return end < 0 ? undefined : name.slice(0, end);
}

/** Puts a server's alias into a resource's URI, and into its name and title, so that users can distinguish devices. */
function withAlias<Key extends string>({ alias }: Server, key: Key) {
	return <Item extends { readonly name: string; readonly title?: string | undefined } & Record<Key, string>>(
		item: Item,
	): Item => ({
		...item,
		[key]: clientUri(item[key], alias),
		name: `${alias}/${item.name}`,
		...(item.title !== undefined && { title: `${item.title}: ${alias}` }),
	});
}
