import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { type Command, Option } from "commander";
import { ALIAS, present, type Store } from "xs-mcp-manager/core";
import { TOKEN_KINDS, type TokenKind } from "../config/access.js";
import { makeSignInCode, TokenStore } from "../config/token-store.js";
import { GatewayError } from "../gateway-error.js";
import { openStores } from "../store/open-stores.js";
import { configurationToWrite, withSettings } from "./configuration-options.js";
import { collect, numberUpTo } from "./gateway-client.js";
import { print, printTable } from "./output.js";

/** The settings that say where tokens are stored. */
const STORE_SETTINGS = ["stateFolder", "cluster", "clusterCredentials", "clusterCa"] as const;

const MILLISECONDS_PER_DAY = 86_400_000;

interface AddFlags {
	readonly for: TokenKind;
	readonly device?: readonly string[];
	readonly allowUserTools?: boolean;
	readonly allowMicrophone?: boolean;
	readonly operator?: boolean;
	readonly readOnly?: boolean;
	/** How long it is valid. */
	readonly days?: number;
	readonly yes?: boolean;
}

/** Adds the commands for the tokens of clients and devices. A running gateway notices their changes. */
export function addTokenCommands(program: Command): void {
	const token = program.command("token").description("Manage tokens of MCP clients and devices");
	withSettings(token.command("add"), STORE_SETTINGS)
		.description("Create a token and print it once")
		.argument("<name>", "Label shown in lists and logs")
		.addOption(new Option("--for <kind>", "Who uses it").choices(TOKEN_KINDS).makeOptionMandatory())
		.option("--device <device>", "Restrict the token to the device with this id or alias (repeatable)", collect)
		.option("--allow-user-tools", "Let the client call user-only tools")
		.option("--allow-microphone", "Let the client listen with the microphones of devices, if the gateway allows that")
		.option("--operator", "Let the client manage tokens and configured servers, in the console")
		.option("--read-only", "Restrict the client to tools that are known to be read-only")
		.option("--days <days>", "Days for which a client's token is valid", numberUpTo(9_999, "a whole number"))
		.option("--yes", "Do not ask before the first token for clients or devices")
		.action(addToken);
	withSettings(token.command("list"), STORE_SETTINGS)
		.description("List the tokens")
		.action((settings: object) => withStore(settings, listTokens));
	withSettings(token.command("remove"), STORE_SETTINGS)
		.description("Remove a token and disconnect whoever uses it")
		.argument("<name>")
		.action((name: string, settings: object) => withStore(settings, (tokens) => removeToken(name, tokens)));
	withSettings(token.command("code"), STORE_SETTINGS)
		.description("Print a code that approves one sign-in of a client, within ten minutes")
		.action((settings: object) =>
			withStore(settings, async (_tokens, store) => {
				process.stdout.write(`${await makeSignInCode(store)}\n`);
				console.error("Enter it on the sign-in page of the client within ten minutes.");
			}),
		);
}

async function addToken(
	name: string,
	{ for: kind, device, yes, days, allowUserTools, allowMicrophone, operator, readOnly, ...settings }: AddFlags,
): Promise<void> {
	const ofClients = allowUserTools || allowMicrophone || operator || readOnly || days !== undefined;
	const flags = "--allow-user-tools, --allow-microphone, --operator, --read-only and --days";
	const problem =
		(kind === "device" && ofClients && `${flags} apply to client tokens only`) ||
		(allowMicrophone && readOnly && "--allow-microphone cannot be combined with --read-only") ||
		(operator && device && "--operator cannot be combined with --device") ||
		(operator && readOnly && "--operator cannot be combined with --read-only");
	if (problem) {
		throw new GatewayError("usage", problem);
	}
	await withStore(settings, async (tokens, store, configuration) => {
		const idOf = (name: string): string => {
			const [configured] = [...configuration.aliases].find(([, alias]) => alias === name) ?? [];
			const stored = store.get(ALIAS + name)?.value as { readonly device?: string } | undefined;
			return configured ?? stored?.device ?? name;
		};
		const isFirst = !tokens.needs(kind);
		if (isFirst && !yes) {
			await confirmFirstToken(kind);
		}
		const expires = days === undefined ? undefined : new Date(tokens.now + days * MILLISECONDS_PER_DAY).toISOString();
		const rights = {
			devices: device?.map(idOf),
			userTools: allowUserTools,
			microphone: allowMicrophone,
			operator,
			readOnly,
			expires,
		};
		const secret = await tokens.add({ name, kind, ...present(rights) });
		process.stdout.write(`${secret}\n`);
		console.error(
			kind === "client"
				? `Copy it now: only its hash is stored. A client sends it as "Authorization: Bearer ${secret.slice(0, 10)}…".`
				: 'Copy it now: only its hash is stored. On the device it is the setting "token" (WebSocket) or "password" (MQTT).',
		);
		if (isFirst) {
			console.error(`It is the first token for a ${kind}: from now on every ${kind} needs one.`);
		}
	});
}

/**
 * Asks before a token that locks others out. Without a terminal nobody can answer: a client's token is created, because
 * clients report a missing token. Devices do not, so a device's token needs `--yes`.
 *
 * Rejects with GatewayError if `--yes` is needed, with Error if the answer is no.
 */
async function confirmFirstToken(kind: TokenKind): Promise<void> {
	const warning = `This is the first token for a ${kind}. From now on every ${kind} needs one, and ${kind}s without one are disconnected.`;
	if (!process.stdin.isTTY) {
		if (kind === "client") {
			return;
		}
		throw new GatewayError("usage", `${warning} To create it anyway: --yes`);
	}
	const terminal = createInterface({ input: process.stdin, output: process.stderr });
	// Ctrl+D counts as no.
	const closed = once(terminal, "close").then(() => "");
	const answer = await Promise.race([terminal.question(`${warning}\nCreate it? [y/N] `), closed]);
	terminal.close();
	if (!/^y(es)?$/i.test(answer.trim())) {
		throw new Error("no token was created");
	}
}

function listTokens(tokens: TokenStore): void {
	const rows = tokens.records.map((record) => {
		const { name, kind, created, devices, userTools, microphone, operator, readOnly, expires, grant } = record;
		const scope = devices === undefined ? "all devices" : devices.join(", ");
		const used = tokens.lastUse(record);
		const more = [
			grant && `signed in: ${grant.clientName}`,
			userTools && "user tools",
			microphone && "microphone",
			operator && "operator",
			readOnly && "read-only",
			expires && `until ${expires}`,
			used !== undefined && `last used ${new Date(used).toISOString()}`,
		].filter(Boolean);
		return [name, kind, created, scope, more.join(", ")];
	});
	if (rows.length === 0) {
		print("No tokens yet.");
	} else {
		printTable([["NAME", "FOR", "CREATED", "DEVICES", "RIGHTS AND USE"], ...rows]);
	}
}

async function removeToken(name: string, tokens: TokenStore): Promise<void> {
	const kind = tokens.records.find((record) => record.name === name)?.kind;
	await tokens.remove(name);
	console.error(`Token ${name} removed.`);
	if (kind !== undefined && !tokens.has(kind)) {
		console.error(
			`It was the last token for a ${kind}: now no ${kind} can connect. Create another one, or start the gateway once with ` +
				`--open, which allows ${kind}s without tokens again.`,
		);
	}
}

/** Runs a command on the store: that of the state folder, or of the cluster. */
async function withStore(
	settings: object,
	run: (
		tokens: TokenStore,
		store: Store,
		configuration: ReturnType<typeof configurationToWrite>,
	) => Promise<void> | void,
): Promise<void> {
	const configuration = configurationToWrite(settings);
	const { store, close } = await openStores(configuration, (message) => console.error(message));
	try {
		await run(new TokenStore(store), store, configuration);
	} finally {
		await close();
	}
}
