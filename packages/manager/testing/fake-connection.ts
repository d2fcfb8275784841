import { Connection, type KnownServer, type PendingRequest, type ServerTool } from "xs-mcp-manager/core";

/** A connection in memory to a server that need not be asked for its lists. The test answers its requests. */
export class FakeConnection extends Connection {
	override readonly revision = "2025-06-18";
	override capabilities: Connection["capabilities"] = { tools: {} };
	override readonly info = { name: "lamp", version: "1" };
	/** Unanswered requests, and those with an answer. */
	readonly asked: PendingRequest[] = [];
	readonly #known: KnownServer;

	constructor(tools: readonly ServerTool[] = [], identity: Partial<Connection["identity"]> = {}) {
		super({ id: "dev", clientId: "dev", transport: "test", ...identity });
		this.#known = { offers: { tools, resources: [], resourceTemplates: [], prompts: [] }, state: "idle" };
	}

	override get known(): KnownServer {
		return this.#known;
	}

	get sent(): unknown[] {
		return this.asked.map(({ request: { method, params } }) => [method, params]);
	}

	override async initialize(): Promise<void> {}

	protected override write(pending: PendingRequest): void {
		this.asked.push(pending);
	}

	override cancelled(): void {}

	protected override disconnect(): void {}
}
