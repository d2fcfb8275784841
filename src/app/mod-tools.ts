import type { Settings } from "../hardware/hardware.js";
import type { HardwareTool } from "../tools/support/define-tool.js";

/** The mod that is installed beside the firmware, as the platform finds it. */
export interface Mod {
	/** Runs it, and returns the default export of its main module. What it throws is the mod's fault. */
	load(): unknown;
}

interface ModToolsOptions {
	/** Undefined if none is installed. */
	readonly mod: Mod | undefined;
	/** The tools of the firmware. */
	readonly tools: readonly HardwareTool[];
	readonly settings?: Settings | undefined;
	/** Told why the mod is left out. */
	readonly onBroken: (reason: string) => void;
	readonly log: (message: string) => void;
}

/** Where it is kept, while a mod is loaded, that this has begun. */
const DOMAIN = "mod";
const LOADING = "loading";

/**
 * The firmware's tools, and after them those of the mod that is installed. A mod that cannot be used is left out, and so is
 * one that has ended the machine when it was loaded at the start before this one: so a device with a broken mod can be
 * reached at least at every other start.
 */
export function withModTools(options: ModToolsOptions): readonly HardwareTool[] {
	const { mod, tools, settings, onBroken, log } = options;
	if (mod === undefined) {
		return tools;
	}
	if (settings?.get(DOMAIN, LOADING) === true) {
		settings.delete(DOMAIN, LOADING);
		onBroken("the device did not start with it last time");
		return tools;
	}
	settings?.set(DOMAIN, LOADING, true);
	try {
		const added = readTools(mod.load(), tools);
		log(`mod: ${added.map(({ name }) => name).join(", ")}`);
		return [...tools, ...added];
	} catch (error) {
		onBroken(error instanceof Error ? error.message : String(error));
		return tools;
	} finally {
		settings?.delete(DOMAIN, LOADING);
	}
}

/** @throws TypeError that says what is wrong with what the mod exports */
function readTools(exported: unknown, tools: readonly HardwareTool[]): readonly HardwareTool[] {
	if (!Array.isArray(exported)) {
		throw new TypeError("its main module exports no list of tools by default");
	}
	const names = new Set(tools.map(({ name }) => name));
	for (const [at, tool] of exported.entries()) {
		if (!isTool(tool)) {
			throw new TypeError(`its tool ${at + 1} was not made with defineTool`);
		}
		if (names.has(tool.name)) {
			throw new TypeError(`there is a tool ${tool.name} already`);
		}
		names.add(tool.name);
	}
	return exported;
}

function isTool(value: unknown): value is HardwareTool {
	const { name, entry, run, needs } = (value ?? {}) as Partial<Record<keyof HardwareTool, unknown>>;
	return typeof name === "string" && typeof entry === "string" && typeof run === "function" && Array.isArray(needs);
}
