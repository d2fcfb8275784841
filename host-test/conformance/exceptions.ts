/** Scenarios that fail or are not run, by the beginning of their names, and why. Any other failure fails the run. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
	"tasks-status-notifications": "the suite does not check them yet",
	"sep-2640-client-": "the gateway does not read skills of upstream servers (extension)",
	"auth/client-credentials-jwt": "no sign-in with a signed token (extension)",
	"auth/enterprise-managed-authorization": "no sign-in with a signed token (extension)",
	"auth/wif-jwt-bearer": "no sign-in with a signed token (extension)",
	"auth/dpop": "no DPoP (extension)",
};

/** Why a scenario fails or is not run. Undefined: it must pass. */
export function exceptionOf(scenario: string): string | undefined {
	return Object.entries(EXCEPTIONS).find(([beginning]) => scenario.startsWith(beginning))?.[1];
}

/** Scenarios of what the gateway adds to devices, by the beginning of their names: a device by itself does not have it. */
const OF_GATEWAY: readonly string[] = ["tasks-", "sep-2640-skills-"];

/** Whether a scenario is run only behind the gateway. */
export function isOfGateway(scenario: string): boolean {
	return OF_GATEWAY.some((beginning) => scenario.startsWith(beginning));
}
