import { watch } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "xs-mcp/root";
import { affectedBy, bundleTests } from "./bundle.js";
import { runBundle } from "./run.js";

/** Milliseconds that an editor may take to write its files. */
const QUIET_TIME = 100;

const WATCHED = ["src", "packages", "host-test", "e2e", "tools", "examples"];

/** Runs the tests that a change affects, after each change of a source. Never settles. */
export async function watchTests(tests: readonly string[]): Promise<never> {
	let { inputs } = await bundleTests(tests);
	const changed = new Set<string>();
	let wake: (() => void) | undefined;
	for (const folder of WATCHED) {
		watch(`${ROOT}${folder}`, { recursive: true }, (_, name) => {
			if (name?.endsWith(".ts")) {
				changed.add(`${folder}/${name}`);
				wake?.();
			}
		});
	}
	for (;;) {
		console.log("Waiting for changes …");
		await new Promise<void>((resolve) => {
			wake = resolve;
		});
		await delay(QUIET_TIME);
		const paths = [...changed];
		changed.clear();
		try {
			const bundle = await bundleTests(tests);
			inputs = { ...inputs, ...bundle.inputs };
			const affected = affectedBy(paths, tests, inputs);
			console.log(`Changed: ${paths.join(", ")}`);
			if (affected.length > 0) {
				await runBundle(bundle, affected, {});
			}
		} catch (error) {
			console.error((error as Error).message);
		}
	}
}
