import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Program } from "../../host-test/support/program.js";
import { temporaryFolder } from "../../host-test/support/testing.js";

/** The extension by which a client signs in with its id and secret, without a person. */
export const CLIENT_CREDENTIALS = "auth/client-credentials-basic";

export interface Suite {
	readonly title: string;
	readonly package: string;
	readonly flags: readonly string[];
}

const NEWEST = "@modelcontextprotocol/conformance";

export const SUITES: readonly Suite[] = [
	{ title: "0.1.16, active", package: "conformance-0.1", flags: [] },
	...["2025-11-25", "2026-07-28"].map((revision) => ({
		title: `0.2.0-alpha.12, requirements of ${revision}`,
		package: NEWEST,
		flags: ["--requirements", revision],
	})),
];

export interface ScenarioResult {
	readonly name: string;
	readonly passed: number;
	readonly failed: number;
	readonly failures?: readonly string[];
	/** Why it does not count, if it does not: "extension", "pending". */
	readonly unscored: string | undefined;
}

const SUMMARY = "=== SUMMARY ===";
const GLOB = new URL("glob.mjs", import.meta.url);
const MODULES = new URL("../../node_modules/", import.meta.url);

const TIMEOUT = 300_000;

const programOf = (name: string): string => fileURLToPath(new URL(`${name}/dist/index.js`, MODULES));

/** The scenarios of the newest suite, by its own list, for servers or for clients. */
export function listScenarios(side: "Server" | "Client"): readonly string[] {
	const program = programOf(NEWEST);
	const said = execFileSync(process.execPath, ["--import", GLOB.href, program, "list"], { encoding: "utf8" });
	const part = said.split("\n\n").find((text) => text.trimStart().startsWith(`${side} scenarios`)) ?? "";
	return [...part.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name as string);
}

export async function runSuite({ package: name, flags }: Suite, url: string): Promise<readonly ScenarioResult[]> {
	const folder = temporaryFolder("xs-mcp-checks-");
	const run = await Program.start(
		["--import", GLOB.href, programOf(name), "server", "--url", url, "--output-dir", folder, ...flags],
		(output) => output.includes(SUMMARY),
		{ startTimeout: TIMEOUT },
	);
	await run.ended();
	return readSummary(run.output.slice(run.output.indexOf(SUMMARY))).map((result) =>
		result.failed === 0 ? result : { ...result, failures: readFailures(folder, result.name) },
	);
}

/** Scenarios of the newest suite that none of its requirements name. */
export const UNNAMED: readonly string[] = [
	"sep-2640-skills-enumeration",
	"sep-2640-skills-manifest",
	"sep-2640-skills-directory",
];

/** Scenarios that need no tools, resources or prompts of the suite's own. */
export const OF_ANY_SERVER: readonly string[] = [
	"server-stateless",
	"tools-list",
	"resources-list",
	"sep-2164-resource-not-found",
	"dns-rebinding-protection",
	"caching",
	"http-header-validation",
	"server-sse-multiple-streams",
];

/** Checks of those scenarios that need tools of the suite's own, or prompts. */
export const OF_OWN_TOOLS: readonly string[] = [
	"sep-2575-server-rejects-undeclared-capability",
	"sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream",
	"sep-2575-server-no-log-without-loglevel",
	"sep-2549-prompts-list-caching-hints",
];

/**
 * Runs scenarios of the newest suite, one after another.
 *
 * @param left ids of checks that do not apply
 * @param unscored why the scenarios do not count, if they do not
 */
export async function runScenarios(
	names: readonly string[],
	url: string,
	left: readonly string[] = [],
	unscored?: string,
): Promise<readonly ScenarioResult[]> {
	const results: ScenarioResult[] = [];
	for (const name of names) {
		results.push({ ...(await runScenario(name, url, left)), unscored });
	}
	return results;
}

async function runScenario(
	name: string,
	url: string,
	left: readonly string[],
): Promise<Omit<ScenarioResult, "unscored">> {
	const folder = temporaryFolder("xs-mcp-checks-");
	const flags = ["--scenario", name, "--spec-version", "2026-07-28", "--force"];
	const args = ["--import", GLOB.href, programOf(NEWEST), "server", "--url", url, "--output-dir", folder, ...flags];
	// It exits with 1 if a check has failed. What it found is in its files.
	await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT }).catch(() => {});
	const checks = readChecks(folder, name).filter(({ id }) => !left.includes(id));
	const count = (status: string): number => checks.filter((each) => each.status === status).length;
	// Without a file it did not run.
	const failed = checks.length === 0 ? 1 : count("FAILURE");
	return { name, passed: count("SUCCESS"), failed, failures: whyFailed(checks) };
}

export interface Check {
	readonly id: string;
	readonly name: string;
	readonly status: string;
	readonly errorMessage?: string;
}

function readFailures(folder: string, scenario: string): string[] {
	return whyFailed(readChecks(folder, scenario).filter(({ status }) => status === "FAILURE"));
}

function readChecks(folder: string, scenario: string): Check[] {
	return readdirSync(folder)
		.filter((name) => name.startsWith(`server-${scenario}-`))
		.flatMap((name) => JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[]);
}

export function whyFailed(checks: readonly Check[]): string[] {
	return checks
		.filter(({ status }) => status === "FAILURE" || status === "WARNING")
		.map(({ id, name, errorMessage }) => `${id} (${name})${errorMessage === undefined ? "" : `: ${errorMessage}`}`);
}

export function resultOf(
	name: string,
	checks: readonly Check[],
	unscored: string | undefined,
	failures: readonly string[] = whyFailed(checks),
): ScenarioResult {
	const passed = checks.filter(({ status }) => status === "SUCCESS").length;
	return { name, passed, failed: failures.length, ...(failures.length > 0 && { failures }), unscored };
}

/** Reads the lines `✓ ping: 1 passed, 0 failed`, and `✗ tasks-lifecycle (extension)` of scenarios that do not count. */
function readSummary(text: string): readonly ScenarioResult[] {
	const unscored = new Map(
		[...text.matchAll(/^ {2}[✓✗] (\S+) \(([^)]+)\)$/gm)].map(([, name, reason]) => [name, reason] as const),
	);
	return [...text.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)].map(([, name = "", passed, failed]) => ({
		name,
		passed: Number(passed),
		failed: Number(failed),
		unscored: unscored.get(name),
	}));
}
