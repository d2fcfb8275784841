import { McpServer, type McpServerOptions, type SessionOptions } from "../mcp-server.js";
import type { McpSession } from "../mcp-session.js";
import { FeatureSession } from "./feature-session.js";
import type { FeatureSet } from "./feature-set.js";

/** An MCP server that offers features besides its tools. */
export class FeatureServer<Context> extends McpServer<Context> {
	readonly features: FeatureSet<Context>;
	#commonNames: readonly string[] | undefined;

	constructor(features: FeatureSet<Context>, options: McpServerOptions<Context>) {
		super(options);
		this.features = features;
		features.attach(this);
	}

	override get commonNames(): readonly string[] {
		if (this.#commonNames === undefined) {
			const { callNames } = this.features;
			this.#commonNames = callNames.length === 0 ? super.commonNames : super.commonNames.concat(callNames);
		}
		return this.#commonNames;
	}

	override get allNames(): readonly string[] {
		return super.allNames.concat(this.features.names);
	}

	override get capabilities(): Readonly<Record<string, object>> {
		return { ...super.capabilities, ...this.features.capabilities };
	}

	override open(options: SessionOptions): McpSession<Context> {
		const session = new FeatureSession<Context>(this, options);
		this.sessions.add(session);
		return session;
	}

	override changed(method: string): void {
		this.forgetNames();
		super.changed(method);
	}

	/** Reads again which names the features want in calls. */
	forgetNames(): void {
		this.#commonNames = undefined;
	}
}
