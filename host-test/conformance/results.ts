import type { ScenarioResult } from "./suites.js";

/** Results of each suite, by its title, over one transport. */
export type Results = ReadonlyMap<string, readonly ScenarioResult[]>;

/** Scenarios that the suite does not check yet. Any other failure fails the run. */
const UNCHECKED = ["tasks-status-notifications"];

/** Beginnings of the names of scenarios of what the gateway adds to devices: a device by itself does not have it. */
const OF_GATEWAY = ["tasks-", "sep-2640-skills-"];

/** Whether a scenario is run only behind the gateway. */
export function isOfGateway(scenario: string): boolean {
	return OF_GATEWAY.some((beginning) => scenario.startsWith(beginning));
}

/** Passed scenarios and all of them, of those that count: "30/30". */
export function figureOf(results: readonly ScenarioResult[]): string {
	const scored = results.filter(({ unscored }) => unscored === undefined);
	return `${scored.filter(({ failed }) => failed === 0).length}/${scored.length}`;
}

/** The scenarios that fail unexpectedly, with the failed checks: a text each. */
export function whyUnexpected(results: readonly ScenarioResult[]): string[] {
	return results
		.filter(({ name, failed }) => failed > 0 && !UNCHECKED.includes(name))
		.map(({ name, failed, failures = [] }) => [`${name} fails (${failed} checks)`, ...failures].join("\n  "));
}
