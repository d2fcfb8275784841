/** Scenarios that fail or are not run, by the beginning of their names, and why. Any other failure fails the run. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
	"tasks-": "the extension `io.modelcontextprotocol/tasks` is offered neither by the gateway nor by a device",
	"sep-2640-client-": "the gateway does not read skills of upstream servers (extension)",
	"sep-2640-skills-": "neither the gateway nor a device offers skills (extension)",
	"auth/client-credentials-jwt": "no sign-in with a signed token (extension)",
	"auth/enterprise-managed-authorization": "no sign-in with a signed token (extension)",
	"auth/wif-jwt-bearer": "no sign-in with a signed token (extension)",
	"auth/dpop": "no DPoP (extension)",
};

/** Why a scenario fails or is not run. Undefined: it must pass. */
export function exceptionOf(scenario: string): string | undefined {
	return Object.entries(EXCEPTIONS).find(([beginning]) => scenario.startsWith(beginning))?.[1];
}
