import { buildXsHost } from "./build-xs.js";
import type { HostBits } from "./compiler.js";
import { EngineError } from "./engine.js";
import { startV8Engine } from "./v8-engine.js";
import { startXsEngine } from "./xs-engine.js";

export interface EngineChoice {
	/** Makes a machine of the chosen kind. */
	readonly start: typeof startV8Engine;
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
	{ bits = 64, onProgress }: { readonly bits?: HostBits; readonly onProgress?: (text: string) => void } = {},
): Promise<EngineChoice> {
	if (prefer === "v8") {
		return { start: startV8Engine, whyNotXs: "V8 was asked for" };
	}
	try {
		const hostPath = await buildXsHost(bits, onProgress);
		return { start: (options) => startXsEngine(hostPath, options) };
	} catch (error) {
		if (error instanceof EngineError) {
			return { start: startV8Engine, whyNotXs: error.message };
		}
		throw error;
	}
}
