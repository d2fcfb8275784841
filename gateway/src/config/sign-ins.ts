import { join } from "node:path";

/** What a person does to sign in at an upstream server. */
export const SIGN_IN_COMMAND = "xs-mcp-gateway servers login";

/** Where the sign-ins at upstream servers are kept. */
export function signInFolder(stateFolder: string): string {
	return join(stateFolder, "sign-ins");
}
