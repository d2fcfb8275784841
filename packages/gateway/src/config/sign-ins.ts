import { join } from "node:path";

/** Command with which a person signs in at an upstream server. */
export const SIGN_IN_COMMAND = "xs-mcp-gateway servers login";

/** Returns the folder of sign-ins at upstream servers. */
export function signInFolder(stateFolder: string): string {
	return join(stateFolder, "sign-ins");
}
