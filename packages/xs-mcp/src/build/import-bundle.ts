import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { build, type Message, type Plugin } from "esbuild";

/** Milliseconds that a module may take to load. */
const MAX_LOAD_TIME = 15_000;

/** Loads a module, and says so whether or not it fails. */
const TRIAL = `const { parentPort, workerData } = require("node:worker_threads");
import(workerData).catch(() => {}).then(() => parentPort.postMessage("loaded"));`;

/**
 * Bundles a module of the firmware, and imports it on this computer.
 *
 * @param onWarnings called with the bundler's warnings before the import
 * @throws Error of the module, or one that says that it does not end
 */
export async function importBundle<Module>(
	entry: string,
	plugin: Plugin,
	onWarnings: (warnings: readonly Message[]) => void = () => {},
): Promise<Module> {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-"));
	try {
		const outfile = join(folder, "module.mjs");
		const { warnings } = await build({
			entryPoints: [entry],
			outfile,
			bundle: true,
			format: "esm",
			target: "node20",
			platform: "neutral",
			logLevel: "silent",
			sourcemap: "inline",
			plugins: [plugin],
		});
		onWarnings(warnings);
		// Errors name the lines of the sources.
		process.setSourceMapsEnabled(true);
		const url = pathToFileURL(outfile).href;
		await expectEnd(url);
		return await import(url);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Loads a module in a thread first, since an endless loop would block this one. Rejects if it does not end. */
async function expectEnd(url: string): Promise<void> {
	const worker = new Worker(TRIAL, { eval: true, workerData: url, stdout: true, stderr: true });
	const isLoaded = await Promise.race([
		// The import itself reports its errors.
		once(worker, "message").catch(() => true),
		once(worker, "exit").then(
			() => false,
			() => true,
		),
		once(AbortSignal.timeout(MAX_LOAD_TIME), "abort").then(() => false),
	]);
	await worker.terminate();
	if (isLoaded === false) {
		throw new Error(`loading it does not end within ${MAX_LOAD_TIME / 1_000} seconds: is a loop endless, or an await?`);
	}
}
