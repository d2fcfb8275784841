import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import pLimit from "p-limit";
import { type Bundle, bundleTests } from "./bundle.js";
import { GroupReport, Progress, summarize, type TestEvent } from "./report.js";
import { bundledPath, groupTests, ROOT } from "./select.js";

const REPORTER = new URL("events.mjs", import.meta.url).href;
const ENTRY = fileURLToPath(new URL("entry.mjs", import.meta.url));

/** Milliseconds without a word after which a process of tests is taken to hang. No test takes a tenth of that. */
const MAX_SILENCE = 900_000;

/** Characters of the output of a process that are shown if it fails. */
const MAX_OUTPUT = 20_000;

export interface RunOptions {
	/** Processes at a time. Default 3: many tests wait for a network more than they compute. */
	readonly concurrency?: number;
	/** For each process. */
	readonly env?: NodeJS.ProcessEnv;
	/** Flags of Node. */
	readonly flags?: readonly string[];
	/** A module that reports to standard output, too. Default: none. */
	readonly reporter?: string;
	/** Each file in its own process. Default: files of a folder share one. */
	readonly isolate?: boolean;
}

/**
 * Bundles and runs test files, shows the progress, and prints a summary.
 *
 * @param files paths from the project's folder
 * @returns the exit code: 0 if every test passed
 */
export async function runTests(files: readonly string[], options: RunOptions = {}): Promise<number> {
	const begin = performance.now();
	return await runBundle(await bundleTests(files), files, options, begin);
}

/** Likewise what is bundled. */
export async function runBundle(
	bundle: Bundle,
	files: readonly string[],
	options: RunOptions,
	begin = performance.now(),
): Promise<number> {
	const groups = options.isolate ? files.map((file) => [file]) : groupTests(files);
	const progress = new Progress(files.length);
	const limit = pLimit(options.concurrency ?? 3);
	const reports = await Promise.all(
		groups.map((group) =>
			limit(async () => {
				const report = await runGroup(bundle, group, { ...options, hear: (event) => progress.hear(event) });
				progress.show(report, group);
				return report;
			}),
		),
	);
	console.log(summarize(reports, performance.now() - begin));
	return reports.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

async function runGroup(
	{ folder }: Bundle,
	files: readonly string[],
	options: RunOptions & { readonly hear: (event: TestEvent) => void },
): Promise<GroupReport> {
	const urls = files.map((file) => pathToFileURL(bundledPath(folder, file)).href);
	const reporters = [REPORTER, ...(options.reporter === undefined ? [] : [options.reporter])];
	const flags = [
		"--enable-source-maps",
		...reporters.flatMap((each) => ["--test-reporter", each, "--test-reporter-destination", "stdout"]),
		...(options.flags ?? []),
	];
	const child = spawn(process.execPath, [...flags, ENTRY, ...urls], {
		cwd: ROOT,
		stdio: ["ignore", "pipe", "pipe", "ipc"],
		env: { ...process.env, ...options.env, XS_MCP_TEST_BUNDLE: folder },
	});
	const stop = (): boolean => child.kill("SIGTERM");
	process.on("exit", stop);
	const report = new GroupReport();
	const output = followOutput(child, options.reporter !== undefined);
	const silence = setTimeout(() => child.kill("SIGKILL"), MAX_SILENCE);
	child.on("message", (event) => {
		silence.refresh();
		report.hear(event as TestEvent);
		options.hear(event as TestEvent);
	});
	const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
	clearTimeout(silence);
	process.off("exit", stop);
	judge(report, { files, code, signal, output: output() });
	return report;
}

/** @returns the end of what it said */
function followOutput(child: ChildProcess, isShown: boolean): () => string {
	let output = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream?.setEncoding("utf8").on("data", (text: string) => {
			output = (output + text).slice(-MAX_OUTPUT);
			if (isShown) {
				process.stdout.write(text);
			}
		});
	}
	return () => output;
}

interface Ended {
	readonly files: readonly string[];
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly output: string;
}

/** A process that ends badly, or without a test, is a failure, too. */
function judge(report: GroupReport, { files, code, signal, output }: Ended): void {
	const title = files.join(", ");
	if (signal !== null) {
		report.failures.push({ title, error: `ended by ${signal} during: ${report.running}\n${output}` });
	} else if (code !== 0 && report.failures.length === 0) {
		report.failures.push({ title, error: `exit code ${code} after: ${report.running}\n${output}` });
	} else if (report.passed === 0 && report.skipped.size === 0 && report.failures.length === 0) {
		report.failures.push({ title, error: "no test ran" });
	}
}
