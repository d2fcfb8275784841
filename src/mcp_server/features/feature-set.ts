import type { RequestId } from "../json-rpc.js";
import type { Features, McpServerOptions } from "../mcp-server.js";
import type { Answer } from "../mcp-session.js";
import type { Params } from "../params.js";
import type { ToolCall } from "../tool-call.js";
import type { Feature, FeatureResult } from "./feature.js";
import { FeatureServer } from "./feature-server.js";
import type { FeatureSession } from "./feature-session.js";

/** A class of features. */
export type Kind<F> = abstract new (...options: never[]) => F;

/** The features of a firmware. */
export class FeatureSet<Context> implements Features<Context> {
	readonly #features: readonly Feature<Context>[];

	constructor(features: readonly Feature<Context>[]) {
		this.#features = features;
	}

	serve(options: McpServerOptions<Context>): FeatureServer<Context> {
		return new FeatureServer(this, options);
	}

	/** The feature of a kind, if there is one. */
	find<F extends object>(kind: Kind<F>): F | undefined {
		return this.#features.find((feature): feature is Feature<Context> & F => feature instanceof kind);
	}

	get capabilities(): Readonly<Record<string, object>> {
		return Object.assign({}, ...this.#features.map(({ capabilities }) => capabilities));
	}

	get names(): readonly string[] {
		return this.#features.flatMap(({ names }) => names);
	}

	get callNames(): readonly string[] {
		return this.#features.flatMap(({ callNames = [] }) => callNames);
	}

	attach(server: FeatureServer<Context>): void {
		for (const feature of this.#features) {
			feature.attach?.(server);
		}
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		for (const feature of this.#features) {
			const result = feature.answer(method, params, call);
			if (result !== undefined) {
				return result;
			}
		}
		return undefined;
	}

	takeOver(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer {
		for (const feature of this.#features) {
			const answer = feature.takeOver?.(session, id, method, params);
			if (answer !== undefined) {
				return answer;
			}
		}
		return undefined;
	}

	takeResponse(session: FeatureSession<unknown>, message: Params): boolean {
		return this.#features.some((feature) => feature.takeResponse?.(session, message));
	}

	sessionClosed(session: FeatureSession<unknown>): void {
		for (const feature of this.#features) {
			feature.sessionClosed?.(session);
		}
	}
}

/**
 * The feature of a kind in the server that a call came to: what functions that take a call, such as `log`, work with.
 *
 * @returns undefined if the server has none
 */
export function findFeature<F extends object>(call: ToolCall, kind: Kind<F>): F | undefined {
	const { server } = call.session;
	return server instanceof FeatureServer ? server.features.find(kind) : undefined;
}
