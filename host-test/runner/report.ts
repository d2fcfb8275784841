import { relative } from "node:path";
import { ROOT } from "./select.js";

/** Event of a process of tests, from runner/events.mjs. */
export interface TestEvent {
	/** "end": of a file. */
	readonly type: "start" | "pass" | "fail" | "diagnostic" | "end";
	readonly name: string;
	readonly nesting: number;
	readonly isSuite: boolean;
	/** Milliseconds. */
	readonly duration?: number;
	/** Why a test was skipped; true if it does not say. */
	readonly skip?: string | true;
	readonly isFromBelow?: boolean;
	readonly error?: string;
	/** At the end of a file: milliseconds of CPU that the process and its children have used since it began. */
	readonly cpuTime?: number;
}

/** A diagnostic of a whole process, which Node's test runner ends with. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

interface Failure {
	readonly title: string;
	readonly error: string;
}

export class FileReport {
	passed = 0;
	readonly failures: Failure[] = [];
	/** Failures of a first run, if the tests have passed in a second one. */
	readonly flaky: Failure[] = [];
	/** Titles by the reason why they were skipped. */
	readonly skipped = new Map<string, number>();
	readonly diagnostics: string[] = [];
	/** Milliseconds of CPU that its tests and their child processes used, and milliseconds that they took. */
	cpuTime = 0;
	duration = 0;
	readonly #begin = performance.now();
	readonly file: string;
	readonly #titles: string[] = [];

	constructor(file: string) {
		this.file = file;
	}

	get #title(): string {
		return this.#titles.join(" › ");
	}

	hear({ type, name, nesting, isSuite, skip, isFromBelow = false, error = "" }: TestEvent): void {
		if (type === "diagnostic") {
			if (nesting > 0) {
				this.diagnostics.push(`${this.#title}: ${name}`);
			} else if (!COUNT.test(name)) {
				// An error after the end of its test, for which Node ends the process with exit code 1.
				this.diagnostics.push(name);
			}
			return;
		}
		this.#titles.length = nesting;
		this.#titles[nesting] = name;
		if (skip !== undefined && type !== "start") {
			const reason = skip === true ? "no reason given" : skip;
			this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
		} else if (type === "fail" && !isFromBelow) {
			this.failures.push({ title: this.#title, error });
		} else if (type === "pass" && !isSuite) {
			this.passed += 1;
		}
	}

	/** The file has ended. One without a test is a failure. */
	end(cpuTime: number): void {
		this.cpuTime = cpuTime;
		this.duration = performance.now() - this.#begin;
		if (this.passed === 0 && this.skipped.size === 0 && this.failures.length === 0) {
			this.failures.push({ title: this.file, error: "no test ran" });
		}
	}

	/** The process has ended badly: how, and what it said last. */
	fail(how: string, output: string): void {
		this.failures.push({ title: this.file, error: `${how} after: ${this.#title}\n${output}` });
	}
}

/** With so few files, each suite gets a line when it ends. */
const MAX_FILES_IN_DETAIL = 12;

/** Files between two lines of progress in a log. */
const FILES_PER_LINE = 10;

/** A line of progress, which overwrites the one before on a terminal. */
export class Progress {
	readonly #total: number;
	#passed = 0;
	#failed = 0;
	#done = 0;

	constructor(total: number) {
		this.#total = total;
	}

	hear({ type, name, nesting, duration = 0, skip, isFromBelow = true, error = "" }: TestEvent): void {
		if (type === "fail" && !isFromBelow && this.#total > MAX_FILES_IN_DETAIL) {
			console.log(`${process.stdout.isTTY ? "\r\x1b[K" : ""}FAILED ${name}\n${indent(shortenPaths(error))}`);
		}
		const isEnd = nesting === 0 && (type === "pass" || type === "fail");
		if (isEnd && this.#total <= MAX_FILES_IN_DETAIL) {
			console.log(
				skip === undefined
					? `${type === "pass" ? "ok    " : "FAILED"} ${name} (${Math.round(duration)} ms)`
					: `skipped ${name}${skip === true ? "" : `: ${skip}`}`,
			);
		}
	}

	show(report: FileReport): void {
		this.#done += 1;
		this.#passed += report.passed;
		this.#failed += report.failures.length;
		if (this.#total <= MAX_FILES_IN_DETAIL) {
			return;
		}
		const failed = this.#failed > 0 ? `, ${this.#failed} failed` : "";
		const line = `${this.#done}/${this.#total} files, ${this.#passed} passed${failed} (${report.file})`;
		if (process.stdout.isTTY) {
			process.stdout.write(`\r\x1b[K${line}`);
		} else if (this.#done % FILES_PER_LINE === 0 || this.#done === this.#total) {
			process.stdout.write(`${line}\n`);
		}
	}
}

/** Diagnostics and failures beyond these are counted only: the summary fits a screen. */
const MAX_DIAGNOSTICS = 12;
const MAX_FAILURES_IN_DETAIL = 5;
const MAX_FAILURES = 20;

const MAX_TIMES = 40;

/** A table of the files that use most CPU: seconds of CPU, and seconds that they took. */
export function tableOfTimes(reports: readonly FileReport[]): string {
	const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1).padStart(7);
	return [
		"\n    CPU    time",
		...[...reports]
			.sort((one, other) => other.cpuTime - one.cpuTime)
			.slice(0, MAX_TIMES)
			.map(({ file, cpuTime, duration }) => `${seconds(cpuTime)} ${seconds(duration)}  ${file}`),
	].join("\n");
}

/**
 * The summary of all: one screen, what failed last. Its final line is one that continuous integration can count.
 *
 * @param milliseconds that the whole took
 */
export function summarize(reports: readonly FileReport[], milliseconds: number): string {
	const passed = reports.reduce((sum, report) => sum + report.passed, 0);
	const failures = reports.flatMap((report) => report.failures);
	const skipped = new Map<string, number>();
	for (const [reason, count] of reports.flatMap((report) => [...report.skipped])) {
		skipped.set(reason, (skipped.get(reason) ?? 0) + count);
	}
	const cpuTime = reports.reduce((sum, report) => sum + report.cpuTime, 0);
	const diagnostics = reports.flatMap((report) => report.diagnostics).slice(0, MAX_DIAGNOSTICS);
	const countSkipped = [...skipped.values()].reduce((sum, count) => sum + count, 0);
	return [
		"",
		...diagnostics,
		...[...skipped].map(([reason, count]) => `skipped ${count}: ${reason}`),
		`Took ${Math.round(milliseconds / 1000)} s, ${Math.round(cpuTime / 1000)} s of CPU.`,
		...describeFailures(
			reports.flatMap((report) => report.flaky),
			"FLAKY",
		),
		...describeFailures(failures),
		`${passed} passed, ${failures.length} failed, ${countSkipped} skipped`,
	].join("\n");
}

function describeFailures(failures: readonly Failure[], word = "FAILED"): string[] {
	const more = failures.length - MAX_FAILURES;
	return [
		...failures
			.slice(0, MAX_FAILURES_IN_DETAIL)
			.map(({ title, error }) => `\n${word} ${title}\n${indent(shortenPaths(error))}`),
		...failures.slice(MAX_FAILURES_IN_DETAIL, MAX_FAILURES).map(({ title }) => `${word} ${title}`),
		...(more > 0 ? [`and ${more} more`] : []),
	];
}

/** Lines of a failure that are shown. */
const MAX_ERROR_LINES = 12;

function indent(text: string): string {
	const lines = text.split("\n");
	const shown = lines.slice(0, MAX_ERROR_LINES);
	return [...shown, ...(lines.length > MAX_ERROR_LINES ? ["…"] : [])].map((line) => `    ${line}`).join("\n");
}

function shortenPaths(text: string): string {
	return text.replaceAll(`file://${ROOT}`, "").replaceAll(ROOT, `${relative(process.cwd(), ROOT)}`);
}
