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

/**
 * Makes a function that reports changes in a catalog from now on: of the lists, only if they differ from the last reported ones; of
 * servers' states and subscribed resources at once. It returns a function that stops it. Without listeners nothing is followed.
 */
export function changesOf(
	servers: ServerRegistry,
	{ lists, reaches, clientUri }: Followed,
): (listener: (change: CatalogChange) => void) => () => void {
	const listeners = new Set<(change: CatalogChange) => void>();
	/** The lists that listeners know. */
	let known: Lists | undefined;
	let unfollow = (): void => {};

	/** Listeners beyond the first are told in later turns of the event loop, in the order of the changes: there may be thousands. */
	const tell = async (change: CatalogChange): Promise<void> => {
		const all = [...listeners];
		for (let told = 0; told < all.length; told += TOLD_PER_TURN) {
			if (told > 0) {
				await nextTurn();
			}
			for (const listener of all.slice(told, told + TOLD_PER_TURN)) {
				if (listeners.has(listener)) {
					listener(change);
				}
			}
		}
	};
	const onChanged = (): void => {
		const before = known;
		const now = lists();
		known = now;
		if (now.tools !== before?.tools) {
			void tell({ kind: "tools" });
		}
		if (now.resources !== before?.resources || now.resourceTemplates !== before.resourceTemplates) {
			void tell({ kind: "resources" });
		}
		if (now.prompts !== before?.prompts) {
			void tell({ kind: "prompts" });
		}
	};
	const onUpdated = (server: Server, uri: string): void => {
		if (reaches(server)) {
			void tell({ kind: "updated", uri: clientUri(server, uri) });
		}
	};
	const follow = (): void => {
		known = lists();
		servers.on("changed", onChanged).on("updated", onUpdated);
		const unfollowStates = followStates(servers, (server) => {
			if (reaches(server)) {
				void tell({ kind: "state", server });
			}
		});
		unfollow = () => {
			servers.off("changed", onChanged).off("updated", onUpdated);
			unfollowStates();
		};
	};
	return (listener) => {
		if (listeners.size === 0) {
			follow();
		}
		listeners.add(listener);
		return () => {
			if (listeners.delete(listener) && listeners.size === 0) {
				unfollow();
			}
		};
	};
}
