// The same suites on the engine of the SDK, in its simulator, with the firmware preloaded as on a chip.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { noSdk, sdk } from "../support/sdk.js";
import { buildForSimulator, Simulator } from "../support/simulator.js";

const MANIFEST_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** Milliseconds without a word after which the machine hangs: no test takes a tenth of that. */
const SILENCE = 30_000;

const LINES_SHOWN = 10;

/** Runs all suites in the simulator, as simulator/main.ts reports them. */
async function runSuites() {
	const simulator = await Simulator.start(sdk, await buildForSimulator(sdk, MANIFEST_FOLDER), { headless: true });
	const lastLines: string[] = [];
	const results = new Map<string, string | undefined>();
	let suites: readonly (readonly [name: string, titles: readonly string[]])[] = [];
	let running = "none had begun";
	const reason = await new Promise<string>((resolve) => {
		const silence = setTimeout(() => resolve(`it hangs: nothing heard for ${SILENCE / 1000} s`), SILENCE);
		const end = (why: string): void => {
			clearTimeout(silence);
			resolve(why);
		};
		simulator.on("ended", end);
		simulator.on("line", (line) => {
			silence.refresh();
			const report = parseReport(line);
			if (report === undefined) {
				lastLines.splice(0, lastLines.length - LINES_SHOWN + 1);
				lastLines.push(line);
				return;
			}
			const [kind, test, why] = report;
			if (kind === "suites") {
				suites = report.slice(1) as unknown as typeof suites;
			} else if (kind === "begun") {
				running = test ?? "";
			} else if (kind === "done") {
				end("it was not run");
			} else {
				results.set(test ?? "", why);
			}
		});
	});
	const [engine, version] = simulator.machine?.engine.split(" ") ?? [];
	await simulator.stop();
	const whyNot = [reason, `the last test begun: ${running}`, ...lastLines].join("\n  ");
	return { title: `on ${engine} ${version} in the simulator`, suites, results, whyNot };
}

/** Reads a line of the trace that is the app's own. Others are the engine's, or of the modules under test. */
function parseReport(line: string): readonly string[] | undefined {
	try {
		const report: unknown = JSON.parse(line);
		return Array.isArray(report) ? report : undefined;
	} catch {
		return undefined;
	}
}

if (noSdk) {
	it("the suites in Moddable's simulator", { skip: noSdk }, () => {});
} else {
	const { title: where, suites, results, whyNot } = await runSuites();
	it("the suites start in Moddable's simulator", () => assert.ok(suites.length > 0, whyNot));
	for (const [suite, titles] of suites) {
		describe(`${where}: ${suite}`, () => {
			for (const title of titles) {
				it(title, () => {
					const test = `${suite}: ${title}`;
					const why = results.has(test) ? results.get(test) : whyNot;
					assert.ok(why === undefined, why);
				});
			}
		});
	}
}
