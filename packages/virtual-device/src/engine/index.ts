import { type BuildOptions, buildXsHost } from "./build-xs.js";
import { type Engine, EngineError, type EngineOptions } from "./engine.js";
import { startV8Engine } from "./v8-engine.js";
import { startXsEngine } from "./xs-engine.js";

export interface EngineChoice {
	/** Makes a machine of the chosen kind. */
	readonly start: (options: EngineOptions) => Promise<Engine>;
	/** Why the engine is not XS; `undefined` when it is. */
	readonly whyNotXs?: string;
}

/**
 * Chooses an engine: XS if it can be built, else V8, with the reason.
 *
 * @param prefer "v8" for V8 in any case
 */
export async function chooseEngine(
	prefer: "xs" | "v8" = "xs",
	{ bits = 64, onProgress }: Partial<BuildOptions> = {},
): Promise<EngineChoice> {
	if (prefer === "v8") {
		return { start: startV8Engine, whyNotXs: "V8 was asked for" };
	}
	try {
		const hostPath = await buildXsHost({ bits, ...(onProgress && { onProgress }) });
		return { start: (options) => startXsEngine({ hostPath, ...options }) };
	} catch (error) {
		if (error instanceof EngineError) {
			return { start: startV8Engine, whyNotXs: error.message };
		}
		throw error;
	}
}
