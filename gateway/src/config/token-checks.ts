import { isLoopback } from "./listen-address.js";
import { type Configuration, flagOf, type SettingName } from "./settings.js";
import type { TokenKind, TokenStore } from "./token-store.js";

/**
 * Why a gateway must not start with these tokens, a line for each problem: other machines could use it without a token, or
 * it had tokens before and has none now.
 */
export function tokenProblems(configuration: Configuration, tokens: TokenStore): string[] {
	const { httpAddress, websocket, websocketAddress, mqtt, mqttAddress, bootstrap } = configuration;
	// The bootstrap creates the tokens of devices.
	const needsDeviceTokens = bootstrap === "closed";
	// An issuer outside makes the tokens of clients.
	const has = (kind: TokenKind): boolean =>
		tokens.has(kind) || (kind === "client" && configuration.issuer !== undefined);
	const exposed = (name: SettingName, address: string, kind: TokenKind): string[] =>
		isLoopback(address) || has(kind) ? [] : [exposedProblem(name, address, kind)];
	const lost = (kind: TokenKind): string[] => (has(kind) || !tokens.needs(kind) ? [] : [lostProblem(kind)]);
	const proxied = (name: "allowedHosts" | "trustProxy"): string[] =>
		configuration[name].length === 0 || has("client") ? [] : [proxiedProblem(name)];
	return [
		...lost("client"),
		...(needsDeviceTokens && (websocket || mqtt) ? lost("device") : []),
		...exposed("httpAddress", httpAddress, "client"),
		...proxied("allowedHosts"),
		...proxied("trustProxy"),
		...(needsDeviceTokens && websocket ? exposed("websocketAddress", websocketAddress, "device") : []),
		...(needsDeviceTokens && mqtt ? exposed("mqttAddress", mqttAddress, "device") : []),
	];
}

function exposedProblem(name: SettingName, address: string, kind: TokenKind): string {
	return (
		`${name} ${address}: anyone on the network could use the gateway, since there is no token for ${kind}s. ` +
		`Create one first: xs-mcp-gateway token add NAME --for ${kind}. Or listen on loopback: ${flagOf(name)} 127.0.0.1`
	);
}

function lostProblem(kind: TokenKind): string {
	return (
		`no token for ${kind}s is left, but there was one before. Create one: xs-mcp-gateway token add NAME --for ${kind}. ` +
		`Or start the gateway once with ${flagOf("open")}, which allows ${kind}s without tokens again`
	);
}

function proxiedProblem(name: SettingName): string {
	return (
		`${name}: other machines could use the gateway, because there is no token for clients. ` +
		"Create one first: xs-mcp-gateway token add NAME --for client"
	);
}
