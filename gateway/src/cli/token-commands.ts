import { type Command, InvalidArgumentError, Option } from "commander";
import { TOKEN_KINDS, type TokenKind } from "../config/token-file.js";
import { TokenStore } from "../config/token-store.js";
import { collect, configurationFrom, withSettings } from "./configuration-options.js";
import { UsageError } from "./exit.js";

interface AddOptions {
	readonly for: TokenKind;
	readonly device?: readonly string[];
	readonly userTools?: boolean;
}

/** Adds the commands for the tokens of clients and devices. A running gateway notices what they change. */
export function addTokenCommands(program: Command): void {
	const token = program.command("token").description("Tokens of MCP clients and devices");
	withSettings(token.command("add"), ["stateFolder"])
		.description("Make a token and print it: it cannot be shown again")
		.argument("<name>", "tells it apart, and appears in logs")
		.addOption(new Option("--for <kind>", "who uses it: client or device").argParser(readKind).makeOptionMandatory())
		.addOption(
			new Option(
				"--device <id>",
				"only for this device: a client sees no other, or no other device may use the token (repeatable)",
			).argParser(collect),
		)
		.option("--user-tools", "the client may call user-only tools")
		.action(addToken);
	withSettings(token.command("list"), ["stateFolder"]).description("List the tokens").action(listTokens);
	withSettings(token.command("remove"), ["stateFolder"])
		.description("Remove a token: whoever uses it is disconnected")
		.argument("<name>")
		.action(removeToken);
}

/** A client was called "host" in version 0.1. */
function readKind(word: string): TokenKind {
	const kind = word === "host" ? "client" : TOKEN_KINDS.find((each) => each === word);
	if (kind === undefined) {
		throw new InvalidArgumentError(`Expected ${TOKEN_KINDS.join(" or ")}.`);
	}
	return kind;
}

function addToken(name: string, { for: kind, device, userTools, ...settings }: AddOptions): void {
	if (kind === "device" && userTools) {
		throw new UsageError("--user-tools: a device does not call tools");
	}
	const store = storeFor(settings);
	const secret = store.add({ name, kind, ...(device && { devices: device }), ...(userTools && { userTools }) });
	process.stdout.write(`${secret}\n`);
	console.error(
		kind === "client"
			? `Copy it now: only its hash is stored. A client sends it as "Authorization: Bearer ${secret.slice(0, 10)}…".`
			: 'Copy it now: only its hash is stored. On the device it is the setting "token" (WebSocket) or "password" (MQTT).',
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
	console.error(`The token ${name} is removed.`);
}

function storeFor(settings: object): TokenStore {
	return new TokenStore(configurationFrom(settings).stateFolder);
}
