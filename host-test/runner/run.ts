import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ROOT } from "xs-mcp/root";
import { type Bundle, bundleTests, XS_GLOBALS } from "./bundle.js";
import { type FileReport, type FileResult, makeProgress, summarize } from "./report.js";
import { bundledPath } from "./select.js";

const REPORTER = new URL("events.mjs", import.meta.url).href;
const ENTRY = fileURLToPath(new URL("entry.mjs", import.meta.url));

/** Milliseconds without the result of a test after which a process hangs: a guide that installs and builds takes ten minutes on a busy machine. */
const MAX_SILENCE = 1_500_000;

/** The same where one test runs for up to an hour: the soak, the simulator and the emulated chip. */
export const LONG_SILENCE = 4_500_000;

/** Processes at a time: more than cores, as many tests wait for a network; few, as each takes some 400 MB. */
const CONCURRENCY = Math.min(8, availableParallelism() + 5);

/** Files that run once more if they fail. More of them are no races. */
const MAX_REPEATED = 3;

/** Characters of the output of a process that are shown if it fails. */
const MAX_OUTPUT = 20_000;

export interface RunOptions {
	/** Processes at a time. Default: {@link CONCURRENCY}. */
	readonly concurrency?: number;
	readonly env?: NodeJS.ProcessEnv;
	readonly flags?: readonly string[];
	/** A module that reports to standard output, too. Default: none. */
	readonly reporter?: string;
	/** Each file in its own process. Default: a process takes one file after another. */
	readonly isolate?: boolean;
	/** Milliseconds without the result of a test after which a process is killed. Default: 25 minutes. */
	readonly maxSilence?: number;
}

export async function runTests(files: readonly string[], options: RunOptions = {}): Promise<number> {
	const begin = performance.now();
	// So that a run that is stopped stops its processes: only an exit does.
	process.once("SIGTERM", () => process.exit(1));
	return await runBundle(await bundleTests(files), files, options, begin);
}

export async function runBundle(
	{ folder }: Bundle,
	files: readonly string[],
	options: RunOptions,
	begin = performance.now(),
): Promise<number> {
	const run: Run = { ...options, folder, queue: [...files], onReport: makeProgress(files.length) };
	const processes = Array.from({ length: options.concurrency ?? CONCURRENCY }, () => runQueue(run));
	const first = (await Promise.all(processes)).flat();
	const reports = process.env.CI ? await repeatFailed(run, first) : first;
	console.log(summarize(reports, performance.now() - begin));
	return reports.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

interface Run extends RunOptions {
	/** Folder of the bundle. */
	readonly folder: string;
	/** Files that no process has taken yet. */
	readonly queue: string[];
	readonly onReport: (report: FileReport) => void;
}

/**
 * Runs the few files that failed once more, each alone: a whole run on another computer takes too long for one race. What
 * passes then is flaky, a fault that is named in the summary.
 */
async function repeatFailed(run: Run, reports: readonly FileReport[]): Promise<readonly FileReport[]> {
	const failed = reports.filter(({ failures }) => failures.length > 0);
	if (failed.length > MAX_REPEATED) {
		return reports;
	}
	const repeated = await runQueue({ ...run, queue: failed.map(({ file }) => file), isolate: true });
	return reports.map((report) => {
		const again = repeated.find(({ file, failures }) => file === report.file && failures.length === 0);
		return again ? { ...again, flaky: report.failures } : report;
	});
}

/** Runs files in one process, and in another if it ends before them. */
async function runQueue(run: Run): Promise<FileReport[]> {
	const reports: FileReport[] = [];
	for (let file = run.queue.shift(); file !== undefined; file = run.queue.shift()) {
		reports.push(...(await runProcess(run, file)));
	}
	return reports;
}

/** Runs a file in a new process, and then files of the queue. */
async function runProcess(run: Run, first: string): Promise<FileReport[]> {
	const child = startProcess(run);
	const stop = (): boolean => child.kill("SIGTERM");
	process.on("exit", stop);
	const output = followOutput(child, run.reporter !== undefined);
	const { maxSilence = MAX_SILENCE } = run;
	let hangs = false;
	const silence = setTimeout(() => {
		hangs = true;
		child.kill("SIGKILL");
	}, maxSilence);
	const reports: FileReport[] = [];
	const end = (file: string, result: Partial<FileResult>): void => {
		const empty = { passed: 0, failures: [], skipped: {}, diagnostics: [], lines: [] };
		const report = { file, ...empty, ...result };
		reports.push(report);
		run.onReport(report);
	};
	let [current, running]: [string | undefined, string] = [undefined, ""];
	const begin = (file: string | undefined): void => {
		current = file;
		child.send(file === undefined ? "" : pathToFileURL(bundledPath(run.folder, file)).href);
	};
	child.on("message", ({ running: title, result }: { running?: string; result?: FileResult }) => {
		silence.refresh();
		running = title ?? running;
		if (result !== undefined) {
			const isEmpty = result.passed + result.failures.length + Object.keys(result.skipped).length === 0;
			const file = current ?? "";
			end(file, isEmpty ? { failures: [{ title: file, error: "no test ran" }] } : result);
			begin(run.isolate ? undefined : run.queue.shift());
		}
	});
	begin(first);
	const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
	clearTimeout(silence);
	process.off("exit", stop);
	if (signal !== null || (code !== 0 && reports.every(({ failures }) => failures.length === 0))) {
		const cause = hangs
			? `no result for ${maxSilence / 1000} s`
			: signal === null
				? `exit code ${code}`
				: `ended by ${signal}`;
		const file = current ?? reports.at(-1)?.file ?? first;
		end(file, { failures: [{ title: file, error: `${cause} after: ${running}\n${output()}` }] });
	}
	return reports;
}

function startProcess({ reporter, flags = [], env, folder }: Run): ChildProcess {
	const reporters = [REPORTER, ...(reporter === undefined ? [] : [reporter])];
	const args = [
		"--enable-source-maps",
		...reporters.flatMap((each) => ["--test-reporter", each, "--test-reporter-destination", "stdout"]),
		...flags,
		// Before anything else: firmware modules use the globals of XS when they are loaded, and a bundle keeps no order of imports.
		"--import",
		pathToFileURL(bundledPath(folder, XS_GLOBALS)).href,
		ENTRY,
	];
	return spawn(process.execPath, args, {
		cwd: ROOT,
		stdio: ["ignore", "pipe", "pipe", "ipc"],
		env: { ...process.env, ...env, XS_MCP_TEST_BUNDLE: folder },
	});
}

/** @returns the end of its output */
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
