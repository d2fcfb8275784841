import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import { parse } from "yaml";
import { Program } from "../../host-test/support/program.js";
import { temporaryFolder } from "../../host-test/support/testing.js";
import { startGatewayUser } from "./gateway-user.js";
import { type Check, CLIENT_CREDENTIALS, listScenarios, resultOf, type ScenarioResult, whyFailed } from "./suites.js";

const PACKAGE = new URL("../../node_modules/@modelcontextprotocol/conformance/", import.meta.url);
const GLOB = new URL("glob.mjs", import.meta.url);
const FORWARD = fileURLToPath(new URL("forward.mjs", import.meta.url));

/** Milliseconds that a scenario has: the package allows 30,000, which a busy machine may exceed. */
const TIMEOUT = "120000";

const CONCURRENCY = 2;

/** The suite has two sign-ins of this revision, but no requirements. */
const OLDEST = "2025-03-26";

export const CLIENT_REVISIONS = [OLDEST, "2025-11-25", "2026-07-28"] as const;

interface Scenario {
	readonly name: string;
	/** Why it does not count, if it does not. */
	readonly unscored: string | undefined;
}

export function clientScenarios(revision: string): readonly Scenario[] {
	if (revision === OLDEST) {
		return listScenarios("Client")
			.filter((name) => name.startsWith(`auth/${OLDEST}-`))
			.map((name) => ({ name, unscored: undefined }));
	}
	const { client, not_scored: others } = parse(
		readFileSync(new URL(`requirements/${revision}.yaml`, PACKAGE), "utf8"),
	) as { client: string[]; not_scored: { scenario: string; leg: string; reason: string }[] };
	const unscored = others.filter(
		({ leg, reason, scenario }) => leg === "client" && (reason !== "extension" || scenario === CLIENT_CREDENTIALS),
	);
	return [
		...client.map((name) => ({ name, unscored: undefined })),
		...unscored.map(({ scenario, reason }) => ({ name: scenario, unscored: reason })),
	];
}

export async function runClientScenarios(
	revision: string,
	scenarios: readonly Scenario[] = clientScenarios(revision),
): Promise<readonly ScenarioResult[]> {
	const user = await startGatewayUser();
	const limit = pLimit(CONCURRENCY);
	try {
		return await Promise.all(scenarios.map((each) => limit(() => runScenario(revision, each, user.url))));
	} finally {
		await user.close();
	}
}

async function runScenario(revision: string, { name, unscored }: Scenario, user: string): Promise<ScenarioResult> {
	const folder = temporaryFolder("xs-mcp-checks-");
	const program = fileURLToPath(new URL("dist/index.js", PACKAGE));
	const command = `${process.execPath} ${FORWARD} ${user} ${name}`;
	const flags = { scenario: name, "spec-version": revision, "output-dir": folder, timeout: TIMEOUT, command };
	// An extension is of no revision: without this it is skipped.
	const force = name === CLIENT_CREDENTIALS ? ["--force"] : [];
	const args = [...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]), ...force];
	const run = await Program.start(["--import", GLOB.href, program, "client", ...args], () => true);
	const exitCode = await run.ended();
	const checks = readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((path) => basename(path) === "checks.json")
		.flatMap((path) => JSON.parse(readFileSync(join(folder, path), "utf8")) as Check[]);
	const failures = whyFailed(checks);
	if (exitCode !== 0 && failures.length === 0) {
		failures.push(`the client failed: ${run.output}`);
	}
	return resultOf(name, checks, unscored, failures);
}
