/** Scenarios that fail, and why: by name. Any other failure of a scenario that counts fails the run. */
export const EXPECTED_FAILURES: ReadonlyMap<string, string> = new Map([]);

/** Why scenarios that do not count fail: by the reason for which the suite does not count them. */
export const UNSCORED: Readonly<Record<string, string>> = {
	extension: "they test the extension `io.modelcontextprotocol/tasks`, which neither the gateway nor a device offers",
};
