import type { TokenKind } from "./access.js";
import { isLoopback } from "./listen-address.js";
import { flagOf } from "./setting-kinds.js";
import type { Configuration, SettingName } from "./settings.js";
import type { TokenStore } from "./token-store.js";

/** Why a gateway must not start: other machines could use it without a token, or it had tokens before and has none now. */
export function tokenProblems(configuration: Configuration, tokens: TokenStore): string[] {
	const { httpAddress, websocket, websocketAddress, mqtt, mqttAddress, bootstrap } = configuration;
	// The bootstrap creates the tokens of devices.
	const needsDeviceTokens = bootstrap === "closed";
	// An issuer outside makes the tokens of clients.
	const has = (kind: TokenKind): boolean =>
		tokens.has(kind) || (kind === "client" && configuration.issuer !== undefined);
	const create = (kind: TokenKind): string => `xs-mcp-gateway token add NAME --for ${kind}`;
	const exposed = (name: SettingName, address: string, kind: TokenKind): string[] => {
		const problem =
			`${name} ${address}: anyone on the network could use the gateway, since there is no token for ${kind}s. ` +
			`Create one first: ${create(kind)}. Or listen on loopback: ${flagOf(name)} 127.0.0.1`;
		return isLoopback(address) || has(kind) ? [] : [problem];
	};
	const lost = (kind: TokenKind): string[] => {
		const problem =
			`no token for ${kind}s is left, but there was one before. Create one: ${create(kind)}. ` +
			`Or start the gateway once with ${flagOf("open")}, which allows ${kind}s without tokens again`;
		return has(kind) || !tokens.needs(kind) ? [] : [problem];
	};
	const proxied = (["allowedHosts", "trustProxy"] as const)
		.filter((name) => configuration[name].length > 0 && !has("client"))
		.map(
			(name) =>
				`${name}: other machines could use the gateway, because there is no token for clients. ` +
				`Create one first: ${create("client")}`,
		);
	return [
		...lost("client"),
		...(needsDeviceTokens && (websocket || mqtt) ? lost("device") : []),
		...exposed("httpAddress", httpAddress, "client"),
		...proxied,
		...(needsDeviceTokens && websocket ? exposed("websocketAddress", websocketAddress, "device") : []),
		...(needsDeviceTokens && mqtt ? exposed("mqttAddress", mqttAddress, "device") : []),
	];
}
