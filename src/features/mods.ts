import type { Application } from "../core/application.js";
import type { Feature } from "../core/listener.js";
import { hasFailedToStart } from "../core/safe-mode.js";
import { hasModule, inBuild } from "../platform/in-build.js";
import type { HardwareTool } from "../tools/define-tool.js";

/** Name that the main module of every mod has. */
const MAIN = "mod/tools/main";

/** Consecutive failed starts after which a mod is left out. Enough to install several mods in a row, each with a restart. */
const MAX_STARTS = 5;

/** Milliseconds after which a start with a mod counts as good. */
const LASTING_START = 300_000;

/**
 * Adds the tools of the mod that is installed to those of the firmware. A mod that cannot be used is left out. So is one
 * with which the machine has crashed repeatedly, while loading or later for lack of heap: the next start is without it,
 * so that the device can be reached.
 *
 * @param findMod returns undefined if none is installed, or else a function that runs it and returns the default export of its
 *   main module. Errors that it throws are the mod's
 */
export const modsFeature = (findMod: () => (() => unknown) | undefined): Feature => ({
	name: "mods",
	after: ["parts"],
	start(app) {
		const load = findMod();
		const { timer, board } = app;
		if (load === undefined) {
			return;
		}
		if (hasFailedToStart("mod", board.settings, timer, MAX_STARTS, LASTING_START)) {
			skip(app, `the device restarted ${MAX_STARTS} times with it; the next start tries it again`);
			return;
		}
		try {
			const added = readTools(load(), app.tools);
			app.log(`mod: ${added.map(({ name }) => name).join(", ")}`);
			app.tools = [...app.tools, ...added];
		} catch (error) {
			skip(app, error instanceof Error ? error.message : String(error));
		}
	},
});

/** Adds the tools of the mod that `mcrun` has installed. */
export default modsFeature(() => (hasModule(MAIN) ? () => inBuild(MAIN) : undefined));

const skip = (app: Application, reason: string): void => {
	app.listen({
		onStart() {
			app.log(`mod skipped: ${reason}`);
			app.alert("modSkipped", reason);
		},
	});
};

/** @throws TypeError that says what is wrong with what the mod exports */
const readTools = (exported: unknown, tools: readonly HardwareTool[]): readonly HardwareTool[] => {
	if (!Array.isArray(exported)) {
		throw new TypeError("the main module's default export is not a list of tools");
	}
	const names = new Set(tools.map(({ name }) => name));
	for (const [at, tool] of exported.entries()) {
		if (!isTool(tool)) {
			throw new TypeError(`tool ${at + 1} was not created with defineTool`);
		}
		if (names.has(tool.name)) {
			throw new TypeError(`tool ${tool.name} is already registered`);
		}
		names.add(tool.name);
	}
	return exported;
};

const isTool = (value: unknown): value is HardwareTool => {
	const { name, entry, run, needs } = (value ?? {}) as Partial<Record<keyof HardwareTool, unknown>>;
	return typeof name === "string" && entry instanceof ArrayBuffer && typeof run === "function" && Array.isArray(needs);
};
