import { createInterface } from "node:readline/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { TOKEN_KINDS, type TokenKind } from "../config/token-file.js";
import { TokenStore } from "../config/token-store.js";
import { collect, configurationFrom, withSettings } from "./configuration-options.js";
import { UsageError } from "./exit.js";

interface AddOptions {
	readonly for: TokenKind;
	readonly device?: readonly string[];
	readonly userTools?: boolean;
	readonly yes?: boolean;
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
		.option("--yes", "do not ask before the first token for devices")
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

async function addToken(name: string, { for: kind, device, userTools, yes, ...settings }: AddOptions): Promise<void> {
	if (kind === "device" && userTools) {
		throw new UsageError("--user-tools: a device does not call tools");
	}
	const store = storeFor(settings);
	const isFirst = !store.needs(kind);
	if (kind === "device" && isFirst && !yes) {
		await confirmFirstDeviceToken();
	}
	const secret = store.add({ name, kind, ...(device && { devices: device }), ...(userTools && { userTools }) });
	process.stdout.write(`${secret}\n`);
	console.error(
		kind === "client"
			? `Copy it now: only its hash is stored. A client sends it as "Authorization: Bearer ${secret.slice(0, 10)}…".`
			: 'Copy it now: only its hash is stored. On the device it is the setting "token" (WebSocket) or "password" (MQTT).',
	);
	if (isFirst) {
		console.error(`It is the first token for a ${kind}: from now on every ${kind} needs one.`);
	}
}

/** Rejects with UsageError if nobody can be asked, with Error if the answer is no. */
async function confirmFirstDeviceToken(): Promise<void> {
	const warning =
		"This is the first token for a device. From now on every device needs one, and devices without one are disconnected.";
	if (!process.stdin.isTTY) {
		throw new UsageError(`${warning} To make it all the same: --yes`);
	}
	const terminal = createInterface({ input: process.stdin, output: process.stderr });
	const answer = await terminal.question(`${warning}\nMake it? [y/N] `);
	terminal.close();
	if (!/^y(es)?$/i.test(answer.trim())) {
		throw new Error("no token was made");
	}
}

function listTokens(settings: object): void {
	for (const { name, kind, created, devices, userTools } of storeFor(settings).records) {
		const scope = devices === undefined ? "all devices" : devices.join(", ");
		process.stdout.write(`${name}  ${kind}  ${created}  ${scope}${userTools ? "  user tools" : ""}\n`);
	}
}

function removeToken(name: string, settings: object): void {
	const store = storeFor(settings);
	const kind = store.records.find((record) => record.name === name)?.kind;
	store.remove(name);
	console.error(`The token ${name} is removed.`);
	if (kind !== undefined && !store.has(kind)) {
		console.error(
			`It was the last token for a ${kind}: now no ${kind} can connect. Make another one, or start the gateway once with ` +
				`--open, to let ${kind}s in without tokens again.`,
		);
	}
}

function storeFor(settings: object): TokenStore {
	return new TokenStore(configurationFrom(settings).stateFolder);
}
