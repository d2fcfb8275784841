// The code in the sandbox: the gateway's own sources, and stand-ins for its listeners.
import { nuid } from "@nats-io/nuid";
import { getLocks } from "proper-lockfile/lib/lockfile.js";
import { makeSignInCode } from "../../../src/config/sign-in-code.js";
import { TokenStore } from "../../../src/config/token-store.js";
import { resetStore } from "./shared-store.js";

export { sharedStore } from "./shared-store.js";
export { SimulatedGateway } from "./simulated-gateway.js";
export { makeSignInCode, TokenStore };

/** Forgets what libraries keep from one world to the next. */
export function reset(): void {
	nuid.reset();
	resetStore();
	// A killed process does not unlock, and its locks keep all of its world in memory.
	const locks = getLocks();
	for (const path of Object.keys(locks)) {
		delete locks[path];
	}
}
