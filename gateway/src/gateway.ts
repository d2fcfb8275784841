import { join } from "node:path";
import type { Access } from "./clients/access.js";
import { type Catalog, Catalogs, type CatalogsOptions } from "./clients/catalog.js";
import { ServerRegistry, type ServerRegistryOptions } from "./servers/registry.js";

export interface GatewayOptions extends Omit<ServerRegistryOptions, "folder">, CatalogsOptions {
	/** Where the gateway keeps what outlives it. Default: nowhere. */
	readonly stateFolder?: string;
}

/** The servers on one side, and what each client sees of them on the other. */
export class Gateway {
	/** Every server that the gateway knows. */
	readonly servers: ServerRegistry;
	readonly #catalogs: Catalogs;

	private constructor(servers: ServerRegistry, options: GatewayOptions) {
		this.servers = servers;
		this.#catalogs = new Catalogs(servers, options);
	}

	/**
	 * Opens a gateway that knows what it knew before.
	 *
	 * Rejects with a RangeError when an alias cannot be used, and when the state folder cannot.
	 *
	 * @param onWarning is told of warnings from the start, about damaged files for example
	 */
	static async open(options: GatewayOptions = {}, onWarning?: (message: string) => void): Promise<Gateway> {
		const { stateFolder } = options;
		const folder = stateFolder === undefined ? {} : { folder: join(stateFolder, "devices") };
		return new Gateway(await ServerRegistry.open({ ...options, ...folder }, onWarning), options);
	}

	/** What a client with this access sees: all that it may reach, or one server of it by alias or id. */
	catalog(access: Access, server?: string): Catalog {
		return this.#catalogs.get(access, server);
	}

	/** Ends every session with a server, and settles when everything is on disk. */
	async close(): Promise<void> {
		await this.servers.close();
	}
}
