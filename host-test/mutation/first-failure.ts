import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BundleOptions, bundleTests } from "../runner/bundle.js";
import { bundledPath, ROOT } from "../runner/select.js";

/** Where bundles of tests with a changed source are while they run. */
export const MUTANTS = `${ROOT}.cache/mutants/`;

const ENTRY = fileURLToPath(new URL("entry.mjs", import.meta.url));
const REPORTER = new URL("reporter.mjs", import.meta.url).href;

/** Runs tests up to the first that fails, or does not end in time. Resolves to what failed; undefined if all passed. */
export async function firstFailure(
	tests: readonly string[],
	maxTime: number,
	replaced?: BundleOptions["replaced"],
): Promise<string | undefined> {
	const folder = mkdtempSync(MUTANTS);
	try {
		await bundleTests(tests, { folder, ...(replaced && { replaced }) });
	} catch (error) {
		return (error as Error).message;
	}
	const urls = tests.map((test) => pathToFileURL(bundledPath(folder, test)).href);
	const child = spawn(process.execPath, ["--test-reporter", REPORTER, ENTRY, ...urls], {
		cwd: ROOT,
		stdio: ["ignore", "pipe", "ignore"],
		// A group of its own, so that what a test that failed has started ends with it.
		detached: true,
		env: { ...process.env, XS_MCP_TEST_BUNDLE: folder },
	});
	let output = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
	});
	const stop = (): void => {
		try {
			process.kill(-(child.pid as number), "SIGKILL");
		} catch {
			// Every process of the group has ended.
		}
	};
	const timer = setTimeout(stop, maxTime);
	process.once("exit", stop);
	const closed = once(child, "close");
	const [code] = (await once(child, "exit")) as [number | null];
	clearTimeout(timer);
	process.off("exit", stop);
	stop();
	await closed;
	rmSync(folder, { recursive: true, force: true });
	return code === 0 ? undefined : output || `exit code ${code}`;
}
