import { type Figure, figureOf, figureText, problemsWith, scenarioTable, table } from "./report.js";
import { listScenarios, type ScenarioResult } from "./suites.js";

/** The results of each revision. */
export type ClientResults = ReadonlyMap<string, readonly ScenarioResult[]>;

/** Its part of the report begins with it. */
const HEADING = "## As a client of upstream servers";

/** The parts of a report: on the gateway as a server, as a client of upstream servers, and as an authorization server. */
export function splitReport(report: string): { readonly [Part in "server" | "client" | "authorization"]: string } {
	const parts = report.split(/^(?=## As an? )/m);
	const beginningWith = (text: string): string => parts.find((part) => part.startsWith(text)) ?? "";
	return {
		server: parts.find((part) => !part.startsWith("## As ")) ?? "",
		client: beginningWith(HEADING),
		authorization: beginningWith("## As an authorization server"),
	};
}

/** The part of the report on the gateway's connections to upstream servers, in Markdown. */
export function writeClientPart(results: ClientResults): string {
	const lines = [
		HEADING,
		"",
		"`npm run conformance -- client` configures each scenario's server in a gateway and calls it through `/mcp/SERVER`.",
		"Of the extensions it runs `auth/client-credentials-basic` alone, which does not count; of 2025-03-26 the two sign-ins that the suite has.",
		"One scenario is edited: in `http-custom-headers` of 2026-07-28 the second call has an argument that is null. It is left out before the call",
		"reaches the gateway, which rejects what breaks a tool's schema; so `sep-2243-client-omit-null` shows what is sent for an absent argument only.",
		"",
		...table(
			["revision", "scenarios"],
			[...results].map(([revision, each]) => [revision, figureText(figureOf(each))]),
		),
		"",
		"### Scenarios for clients",
		"",
		...scenarioTable(listScenarios("Client"), [...results.values()].flat()),
	];
	return `${lines.join("\n").trimEnd()}\n`;
}

/** Problems: figures worse than the report's, and failures, a line each. */
export function clientProblems(results: ClientResults, before: string): string[] {
	return [...results].flatMap(([revision, scenarios]) =>
		problemsWith(`client, ${revision}`, scenarios, readFigure(before, revision)),
	);
}

function readFigure(report: string, revision: string): Figure | undefined {
	const [, passed, of] =
		new RegExp(`^\\| ${revision} \\| (\\d+)/(\\d+) \\|$`, "m").exec(splitReport(report).client) ?? [];
	return passed === undefined ? undefined : { passed: Number(passed), of: Number(of) };
}
