import { setImmediate as nextTurn } from "node:timers/promises";
import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { followStates, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import type { ListKind } from "../config/catalog-mode.js";

/** The lists of a catalog. */
export interface Lists {
	/** The tools that are listed. */
	readonly tools: readonly Tool[];
	/** Undefined before the first list. */
	readonly kind: ListKind | undefined;
	readonly resources: readonly Resource[];
	readonly resourceTemplates: readonly ResourceTemplateType[];
	readonly prompts: readonly Prompt[];
}

/** A list whose changes are announced to clients. Templates belong to the resources. */
export type ListName = "tools" | "resources" | "prompts";

/** A change in a catalog: a list; a server's state; or a resource, by the URI that clients know. */
export type CatalogChange =
	| { readonly kind: ListName }
	| { readonly kind: "state"; readonly server: Server }
	| { readonly kind: "updated"; readonly uri: string };

/** The catalog whose changes are followed. */
interface Followed {
	/** Its lists now: the same arrays until something in them changes. */
	readonly lists: () => Lists;
	/** Whether it has a server. */
	readonly reaches: (server: Server) => boolean;
	readonly clientUri: (server: Server, uri: string) => string;
}

/** Listeners that are told of a change in one turn of the event loop: each may write to its client. */
const TOLD_PER_TURN = 50;

/** Tells listeners of the changes in a catalog. Without listeners it follows nothing. */
export class CatalogChanges {
	readonly #servers: ServerRegistry;
	readonly #catalog: Followed;
	readonly #listeners = new Set<(change: CatalogChange) => void>();
	/** The lists that listeners know. */
	#told: Lists | undefined;
	#unfollow = (): void => {};

	constructor(servers: ServerRegistry, catalog: Followed) {
		this.#servers = servers;
		this.#catalog = catalog;
	}

	/**
	 * Reports changes from now on: of the lists, only if they differ from the last reported ones; of servers' states and
	 * subscribed resources at once.
	 *
	 * @returns a function that stops it
	 */
	onChange(listener: (change: CatalogChange) => void): () => void {
		if (this.#listeners.size === 0) {
			this.#follow();
		}
		this.#listeners.add(listener);
		return () => {
			if (this.#listeners.delete(listener) && this.#listeners.size === 0) {
				this.#unfollow();
			}
		};
	}

	#follow(): void {
		const { reaches, clientUri, lists } = this.#catalog;
		this.#told = lists();
		const onChanged = (): void => this.#compare();
		const onUpdated = (server: Server, uri: string): void => {
			if (reaches(server)) {
				void this.#tell({ kind: "updated", uri: clientUri(server, uri) });
			}
		};
		this.#servers.on("changed", onChanged).on("updated", onUpdated);
		const unfollowStates = followStates(this.#servers, (server) => {
			if (reaches(server)) {
				void this.#tell({ kind: "state", server });
			}
		});
		this.#unfollow = () => {
			this.#servers.off("changed", onChanged).off("updated", onUpdated);
			unfollowStates();
		};
	}

	#compare(): void {
		const before = this.#told;
		const now = this.#catalog.lists();
		this.#told = now;
		if (now.tools !== before?.tools) {
			void this.#tell({ kind: "tools" });
		}
		if (now.resources !== before?.resources || now.resourceTemplates !== before.resourceTemplates) {
			void this.#tell({ kind: "resources" });
		}
		if (now.prompts !== before?.prompts) {
			void this.#tell({ kind: "prompts" });
		}
	}

	/** Listeners beyond the first are told in later turns of the event loop, in the order of the changes: there may be thousands. */
	async #tell(change: CatalogChange): Promise<void> {
		const listeners = [...this.#listeners];
		for (let told = 0; told < listeners.length; told += TOLD_PER_TURN) {
			if (told > 0) {
				await nextTurn();
			}
			for (const listener of listeners.slice(told, told + TOLD_PER_TURN)) {
				if (this.#listeners.has(listener)) {
					listener(change);
				}
			}
		}
	}
}
