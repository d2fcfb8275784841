// The code in the sandbox: the gateway's own sources, and stand-ins for its listeners.
export type { Store } from "xs-mcp-manager/core";
export { makeSignInCode } from "../../../src/config/sign-in-code.js";
export { TokenStore } from "../../../src/config/token-store.js";
export {
	type Answer,
	type DeviceSession,
	type Machine,
	runCommand,
	SimulatedGateway,
} from "./simulated-gateway.js";
