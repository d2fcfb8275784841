import { type Command, Option } from "commander";
import { type TokenKind, TokenStore } from "../config/token-store.js";
import { collect, configurationFrom, withSettings } from "./configuration-options.js";
import { UsageError } from "./exit.js";

interface AddOptions {
	readonly for: TokenKind;
	readonly device?: readonly string[];
	readonly userTools?: boolean;
}

/** Adds the commands for the tokens that let hosts and devices in. A running gateway notices what they change. */
export function addTokenCommands(program: Command): void {
	const token = program.command("token").description("Tokens that let hosts and devices in");
	withSettings(token.command("add"), ["stateFolder"])
		.description("Make a token, and print it: it cannot be shown again")
		.argument("<name>", "tells it apart, and is what logs say")
		.addOption(new Option("--for <kind>", "whom it lets in").choices(["host", "device"]).makeOptionMandatory())
		.addOption(
			new Option("--device <id>", "only this device: that a host reaches, or that may show the token").argParser(
				collect,
			),
		)
		.option("--user-tools", "the host sees user-only tools")
		.action(addToken);
	withSettings(token.command("list"), ["stateFolder"]).description("List the tokens").action(listTokens);
	withSettings(token.command("remove"), ["stateFolder"])
		.description("Let nobody in any more by a token")
		.argument("<name>")
		.action(removeToken);
}

function addToken(name: string, { for: kind, device, userTools, ...settings }: AddOptions): void {
	if (kind === "device" && userTools) {
		throw new UsageError("--user-tools: a device does not call tools");
	}
	const store = storeFor(settings);
	const secret = store.add({ name, kind, ...(device && { devices: device }), ...(userTools && { userTools }) });
	process.stdout.write(`${secret}\n`);
	console.error(
		kind === "host"
			? `Kept as a hash only: copy it now. A host sends it as "Authorization: Bearer ${secret.slice(0, 10)}…".`
			: 'Kept as a hash only: copy it now. It is a device\'s setting "token" (WebSocket) or "password" (MQTT).',
	);
	if (store.records.filter((record) => record.kind === kind).length === 1) {
		console.error(`It is the first token for a ${kind}: from now on every ${kind} needs one.`);
	}
}

function listTokens(settings: object): void {
	for (const { name, kind, created, devices, userTools } of storeFor(settings).records) {
		const scope = devices === undefined ? "all devices" : devices.join(", ");
		process.stdout.write(`${name}  ${kind}  ${created}  ${scope}${userTools ? "  user tools" : ""}\n`);
	}
}

function removeToken(name: string, settings: object): void {
	storeFor(settings).remove(name);
	console.error(`${name} lets nobody in any more.`);
}

function storeFor(settings: object): TokenStore {
	return new TokenStore(configurationFrom(settings).stateFolder);
}
