import type { Server as SdkServer, ServerContext } from "@modelcontextprotocol/server";
import type { CallOptions, OrInput, Server } from "xs-mcp-manager/core";
import type { Catalog, ListName } from "../catalog/catalog.js";
import type { PageRequest } from "../catalog/pages.js";

/** The client that a ClientServer serves, as the handlers of its requests see it. */
export interface ServedClient extends SdkServer {
	readonly catalog: Catalog;
	/** Adds a function that is called once the client has disconnected. */
	readonly onClosed: (end: () => void) => void;
	/** The revision that the client speaks. */
	readonly revision: string;
	/**
	 * A page of a list.
	 *
	 * @param list whose changes the client has seen with its first page
	 */
	page<Item>(
		items: readonly Item[],
		keyOf: (item: Item) => string,
		request: { readonly list?: ListName; readonly params: PageRequest | undefined },
	): { readonly items: Item[]; readonly next: { readonly nextCursor?: string } };
	/**
	 * Forwards a client's request to a server. If the server needs input first, what it wants back is signed.
	 *
	 * @param target the name or URI that the client asks for
	 */
	forward<Result>(
		context: ServerContext,
		server: Server,
		target: string,
		ask: (options: CallOptions) => Promise<OrInput<Result>>,
	): Promise<OrInput<Result>>;
}
