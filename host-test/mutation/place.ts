import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleTests } from "../runner/bundle.js";
import { bundledPath, ROOT } from "../runner/select.js";

const ENTRY = fileURLToPath(new URL("entry.mjs", import.meta.url));
/** What the firmware's suites need on Node. */
const XS_GLOBALS = "host-test/node/xs-globals.ts";

const REPORTER = new URL("reporter.mjs", import.meta.url).href;

/** What one test file does without a change. */
export interface Measurement {
	/** Of the mutants whose code it runs. */
	readonly reached: ReadonlySet<number>;
	/** Milliseconds that it takes. */
	readonly time: number;
}

/**
 * A bundle of tests in which sources hold their mutants. A file beside it, which each process of a test reads, chooses the
 * mutant that runs; so the tests are bundled once, and a place runs one mutant at a time.
 */
export class Place {
	readonly #folder: string;

	private constructor(folder: string) {
		this.#folder = folder;
	}

	/** @param sources with their mutants, by path */
	static async open(folder: string, tests: readonly string[], sources: ReadonlyMap<string, string>): Promise<Place> {
		const place = new Place(folder);
		mkdirSync(folder, { recursive: true });
		const banner = `import ${JSON.stringify(pathToFileURL(place.#switch).href)};`;
		await bundleTests([XS_GLOBALS, ...tests], { folder, replaced: sources, banner });
		return place;
	}

	get #switch(): string {
		return `${this.#folder}/switch.mjs`;
	}

	/**
	 * Runs a test file without a change.
	 *
	 * @param maxTime milliseconds
	 * @throws Error if a test fails: then every change would seem to be noticed
	 */
	async measure(test: string, maxTime: number): Promise<Measurement> {
		const record = `${this.#folder}/reached`;
		writeFileSync(record, "");
		// Processes that a test kills have told what they reached.
		writeFileSync(
			this.#switch,
			`import { appendFileSync } from "node:fs";
			const reached = new Set();
			globalThis.isMutant ??= (id) => {
				if (!reached.has(id)) {
					reached.add(id);
					appendFileSync(${JSON.stringify(record)}, id + "\\n");
				}
				return false;
			};`,
		);
		const begin = performance.now();
		if (!(await this.#pass([test], maxTime))) {
			throw new Error(`a test fails without a change: ${test}`);
		}
		const time = performance.now() - begin;
		const reached = new Set(readFileSync(record, "utf8").split("\n").filter(Boolean).map(Number));
		return { reached, time };
	}

	/** Whether tests pass with a mutant. They run one after another up to the first that fails, or does not end in time. */
	async survives(id: number, tests: readonly string[], maxTime: number): Promise<boolean> {
		writeFileSync(this.#switch, `globalThis.isMutant = (id) => id === ${id};`);
		return await this.#pass(tests, maxTime);
	}

	async #pass(tests: readonly string[], maxTime: number): Promise<boolean> {
		const urls = [XS_GLOBALS, ...tests].map((test) => pathToFileURL(bundledPath(this.#folder, test)).href);
		const child = spawn(process.execPath, ["--test-reporter", REPORTER, ENTRY, ...urls], {
			cwd: ROOT,
			stdio: "ignore",
			// A group of its own, so that what a test that failed has started ends with it.
			detached: true,
			env: { ...process.env, XS_MCP_TEST_BUNDLE: this.#folder },
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
		const [code] = (await once(child, "exit")) as [number | null];
		clearTimeout(timer);
		process.off("exit", stop);
		stop();
		return code === 0;
	}
}
