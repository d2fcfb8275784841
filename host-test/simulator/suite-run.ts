import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";

import type { Sdk } from "../../scripts/moddable/sdk.js";
import { buildForSimulator, Simulator } from "../support/simulator.js";
import type { Report } from "./main.js";

const MANIFEST_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** Milliseconds without a word after which the machine hangs: no test takes a tenth of that. */
const SILENCE = 30_000;

/** Lines of the trace that are told when the run ends too early. */
const LINES_TOLD = 10;

/** A run of all suites in Moddable's simulator, and what is heard of it. */
export class SuiteRun extends EventEmitter<{ heard: [] }> {
	/** The suites and their tests, once they are known. */
	suites: readonly (readonly [name: string, titles: readonly string[]])[] = [];
	readonly #simulator: Simulator;
	readonly #results = new Map<string, string | undefined>();
	readonly #lastLines: string[] = [];
	readonly #silence: NodeJS.Timeout;
	#running = "none had begun";
	/** Why nothing more will be heard. */
	#over: string | undefined;

	private constructor(simulator: Simulator) {
		super();
		this.#simulator = simulator;
		this.#silence = setTimeout(() => this.#end(`it hangs: nothing heard for ${SILENCE / 1000} s`), SILENCE);
		simulator.on("line", (line) => this.#heard(line));
		simulator.on("ended", (reason) => this.#end(reason));
	}

	/**
	 * Builds the suites, starts them in the simulator, on a virtual display, and waits until it is known which there are.
	 *
	 * @throws SdkError when they cannot be built, or a program is missing
	 * @throws Error when they do not start
	 */
	static async start(sdk: Sdk): Promise<SuiteRun> {
		const library = await buildForSimulator(sdk, MANIFEST_FOLDER);
		const run = new SuiteRun(await Simulator.start(sdk, library, { headless: true }));
		while (run.suites.length === 0) {
			if (run.#over !== undefined) {
				await run.stop();
				throw new Error(run.#over);
			}
			await once(run, "heard");
		}
		return run;
	}

	/** The engine's name and version. */
	get engine(): string {
		return this.#simulator.machine?.engine.split(" ").slice(0, 2).join(" ") ?? "";
	}

	/** Waits for a test's result: undefined when it passed, else why not. */
	async result(suite: string, title: string): Promise<string | undefined> {
		const test = testName(suite, title);
		while (!this.#results.has(test)) {
			if (this.#over !== undefined) {
				return this.#over;
			}
			await once(this, "heard");
		}
		return this.#results.get(test);
	}

	async stop(): Promise<void> {
		clearTimeout(this.#silence);
		await this.#simulator.stop();
	}

	#heard(line: string): void {
		this.#silence.refresh();
		const report = parseReport(line);
		switch (report?.[0]) {
			case "suites":
				this.suites = report.slice(1) as unknown as SuiteRun["suites"];
				break;
			case "begun":
				this.#running = testName(report[1], report[2]);
				break;
			case "passed":
				this.#results.set(testName(report[1], report[2]), undefined);
				break;
			case "failed":
				this.#results.set(testName(report[1], report[2]), report[3]);
				break;
			case "done":
				this.#end("it was not run");
				break;
			case undefined:
				this.#lastLines.splice(0, this.#lastLines.length - LINES_TOLD + 1);
				this.#lastLines.push(line);
				break;
		}
		this.emit("heard");
	}

	#end(reason: string): void {
		clearTimeout(this.#silence);
		this.#over ??= [reason, `the last test begun: ${this.#running}`, ...this.#lastLines].join("\n  ");
		this.emit("heard");
	}
}

function testName(suite: string, title: string): string {
	return `${suite}: ${title}`;
}

/** A line of the trace that is the app's own. Others are the engine's, or of the modules under test. */
function parseReport(line: string): Report | undefined {
	try {
		const report: unknown = JSON.parse(line);
		return Array.isArray(report) ? (report as unknown as Report) : undefined;
	} catch {
		return undefined;
	}
}
