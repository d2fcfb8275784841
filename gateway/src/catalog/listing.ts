import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { isUserOnly, type Server, type ServerPrompt, type ServerTool, withoutExecution } from "xs-mcp-manager/core";
import { likenessOf } from "./groups.js";
import { ALIAS_SEPARATOR } from "./names.js";
import { clientUri } from "./resource-uris.js";
import { type Lookup, type NamedItem, type Naming, sharedLists } from "./shared-list.js";
import { stateResource } from "./state-resource.js";
import type { ToolHints } from "./tool-hints.js";

/** Which of a server's tools a client may see and call. */
export interface Allowed {
	readonly userTools: boolean;
	/** Only tools that are known to be read-only. */
	readonly readOnly: boolean;
}

/** A value derived from a list of each server. It stays the same as long as the server has the same list and alias. */
class PerServer<Item extends object, Value> {
	readonly #made = new WeakMap<
		Server,
		{ readonly items: readonly Item[]; readonly alias: string; readonly value: Value }
	>();

	of(server: Server, items: readonly Item[], make: () => Value): Value {
		const known = this.#made.get(server);
		if (known?.items === items && known.alias === server.alias) {
			return known.value;
		}
		const value = make();
		this.#made.set(server, { items, alias: server.alias, value });
		return value;
	}
}

/** Values derived from servers' lists, for one naming. */
class Made {
	readonly namedTools = new PerServer<ServerTool, readonly NamedItem<Tool>[]>();
	/** For each {@link Allowed}. */
	readonly tools = Array.from({ length: 4 }, () => new PerServer<ServerTool, readonly Tool[]>());
	readonly prompts = new PerServer<ServerPrompt, readonly Prompt[]>();
	readonly resources = new PerServer<Resource, readonly Resource[]>();
	readonly templates = new PerServer<ResourceTemplateType, readonly ResourceTemplateType[]>();
}

/** Most servers have neither prompts nor templates. */
const NONE: readonly never[] = [];

/**
 * Servers' lists as clients see them. What is made of a list stays the same object as long as the server has the same list
 * and alias: so catalogs see what has changed, and do not rebuild the lists of thousands of servers.
 */
export class Listings {
	readonly #hints: ToolHints;
	readonly #tools = sharedLists<ServerTool>((tool) => withoutExecution(this.hinted(tool)));
	readonly #prompts = sharedLists<ServerPrompt>(itself);
	readonly #likenesses = new WeakMap<ServerTool, string>();
	readonly #made: Readonly<Record<Naming, Made>> = { portable: new Made(), prefixed: new Made() };

	/** @param hints for tools without any */
	constructor(hints: ToolHints) {
		this.#hints = hints;
	}

	/** A tool with hints: see {@link ToolHints.added}. */
	hinted(tool: ServerTool): ServerTool {
		return this.#hints.added(tool.name, tool);
	}

	/** {@link likenessOf}, computed once: thousands of servers share tools. */
	likeness(tool: ServerTool): string {
		const likeness = this.#likenesses.get(tool) ?? likenessOf(this.hinted(tool));
		this.#likenesses.set(tool, likeness);
		return likeness;
	}

	/** Whether a client may see and call a tool. User-only tools, and tools without a read-only hint, need more rights. */
	allows(tool: ServerTool, { userTools, readOnly }: Allowed): boolean {
		return (userTools || !isUserOnly(tool)) && (!readOnly || this.hinted(tool).annotations?.readOnlyHint === true);
	}

	/** A server's tools as a client lists them. */
	tools(server: Server, naming: Naming, allowed: Allowed): readonly Tool[] {
		const made = this.#made[naming].tools[Number(allowed.userTools) + 2 * Number(allowed.readOnly)];
		return (made as Made["tools"][number]).of(server, server.tools, () =>
			this.#namedTools(server, naming)
				.filter(({ item }) => this.allows(item, allowed))
				.map(({ listed }) => listed),
		);
	}

	#namedTools(server: Server, naming: Naming): readonly NamedItem<Tool>[] {
		return this.#made[naming].namedTools.of(server, server.tools, () =>
			this.#tools(server.tools).named(server, naming),
		);
	}

	/** How a client lists a tool of a server. */
	listed(server: Server, naming: Naming, tool: ServerTool): Tool {
		const named = this.#namedTools(server, naming).find(({ item }) => item === tool);
		return named?.listed ?? tool;
	}

	/** The tool of this name. */
	findTool(server: Server, naming: Lookup, name: string): ServerTool | undefined {
		return this.#tools(server.tools).find(name, server, naming);
	}

	/** A server's prompts as a client lists them. */
	prompts(server: Server, naming: Naming): readonly Prompt[] {
		const { prompts } = server.offers;
		return prompts.length === 0
			? NONE
			: this.#made[naming].prompts.of(server, prompts, () =>
					this.#prompts(prompts)
						.named(server, naming)
						.map(({ listed }) => listed),
				);
	}

	/** The prompt of this name. */
	findPrompt(server: Server, naming: Lookup, name: string): ServerPrompt | undefined {
		return this.#prompts(server.offers.prompts).find(name, server, naming);
	}

	/** A server's state, and its resources as a client lists them. */
	resources(server: Server, naming: Naming): readonly Resource[] {
		const { resources } = server.offers;
		return this.#made[naming].resources.of(server, resources, () => {
			const state = stateResource(server);
			const listed = resources.map(naming === "prefixed" ? withAlias(server, "uri") : itself);
			return [state, ...listed.filter(({ uri }) => uri !== state.uri)];
		});
	}

	/** A server's templates of resources as a client lists them. */
	templates(server: Server, naming: Naming): readonly ResourceTemplateType[] {
		const { resourceTemplates } = server.offers;
		return resourceTemplates.length === 0
			? NONE
			: this.#made[naming].templates.of(server, resourceTemplates, () =>
					resourceTemplates.map(naming === "prefixed" ? withAlias(server, "uriTemplate") : itself),
				);
	}
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
