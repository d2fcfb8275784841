import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";
import { Gateway } from "xs-mcp-gateway";
import { serveClients } from "xs-mcp-gateway/testing/gateway";
import { McpManager, type ServerInput, SignIns, signIn } from "xs-mcp-manager";
import { serverConfig } from "xs-mcp-manager/server-config";
import { temporaryFolder } from "../../host-test/support/testing.js";
import { CLIENT_CREDENTIALS } from "./suites.js";

const METADATA_DOCUMENT = "https://conformance-test.local/client-metadata.json";

interface Task {
	readonly scenario: string;
	readonly server: string;
	readonly revision: string;
	readonly context: {
		readonly toolCalls?: readonly ToolCall[];
		readonly client_id?: string;
		readonly client_secret?: string;
	};
}

interface ToolCall {
	readonly name: string;
	readonly arguments: Record<string, unknown>;
}

const SERVER = "scenario";

/**
 * The user of a gateway whose upstream is the server of a conformance scenario: what the scenario checks is the gateway's own
 * connection to that server. Each task gets a gateway of its own, with a client of the scenario's revision in front.
 */
export async function startGatewayUser(): Promise<{ readonly url: string; close(): Promise<void> }> {
	const server = createServer(async (request, response) => {
		try {
			await perform((await json(request)) as Task);
			response.end();
		} catch (error) {
			response.writeHead(500).end((error as Error).stack);
		}
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			server.close();
			server.closeAllConnections();
		},
	};
}

async function perform(task: Task): Promise<void> {
	const { client_id: clientId, client_secret: clientSecret } = task.context;
	const isMachine = task.scenario === CLIENT_CREDENTIALS;
	const registered = { clientId, clientSecret, ...(isMachine && { grant: "client_credentials" as const }) };
	const auth = clientId === undefined ? { clientMetadataUrl: METADATA_DOCUMENT } : registered;
	const input = { id: SERVER, url: task.server, auth: { type: "oauth2", ...auth } as const };
	const folder = temporaryFolder("xs-mcp-sign-ins-");
	if (task.scenario.startsWith("auth/") && !isMachine) {
		await visit(input, folder);
	}
	const errors = await use(input, folder, task);
	if (errors.some((error) => error.includes("To sign in"))) {
		await visit(input, folder);
		await use(input, folder, task);
	}
}

/** @returns the errors of calls. Rejects if the gateway does not connect and no sign-in would help. */
async function use(input: ServerInput, folder: string, { revision, context }: Task): Promise<string[]> {
	const gateway = await Gateway.open();
	const signIns = { folder, how: "sign in" };
	const manager = new McpManager({ registry: gateway.servers, servers: [input], options: { signIns } });
	const front = await serveClients({ after() {} }, gateway);
	const client = makeClient(revision);
	try {
		await manager.initialize();
		const connection = manager.listConnections().find(({ id }) => id === SERVER);
		if (connection?.lastError?.includes("To sign in")) {
			return [connection.lastError];
		}
		if (connection?.status !== "connected") {
			throw new Error(`the gateway did not connect: ${JSON.stringify(connection)}`);
		}
		await client.connect(new StreamableHTTPClientTransport(front.clientUrl(SERVER)));
		return await exercise(client, context.toolCalls);
	} finally {
		await client.close();
		await manager.close();
		await front.close();
	}
}

/** Signs in as a person would; the scenario's authorization server always approves. Some scenarios test a failure. */
async function visit(input: ServerInput, folder: string): Promise<void> {
	await new Promise<void>((resolve) => {
		const onAuthorize = async (url: URL): Promise<void> => {
			const response = await fetch(url).catch(() => undefined);
			if (!response?.ok) {
				resolve();
			}
		};
		signIn(serverConfig(input), new SignIns(folder), onAuthorize)
			.catch(() => {})
			.finally(resolve);
	});
}

/** A client whose user accepts every form, and fills in only what has no default. */
function makeClient(revision: string): Client {
	const mode = revision >= "2026-07-28" ? { pin: revision } : ("legacy" as const);
	const client = new Client(
		{ name: "user", version: "1.0.0" },
		{ versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
	);
	client.setRequestHandler("elicitation/create", ({ params }) => {
		const { properties = {} } = (params as { requestedSchema?: Schema }).requestedSchema ?? {};
		const open = Object.entries(properties).filter(([, { default: preset }]) => preset === undefined);
		return { action: "accept", content: valuesFor(Object.fromEntries(open)) as Record<string, string> };
	});
	return client;
}

/** Calls each tool, reads each resource and gets each prompt: all tools at once, so that their calls overlap. */
async function exercise(client: Client, toolCalls: readonly ToolCall[] | undefined): Promise<string[]> {
	const { tools } = await client.listTools();
	const calls = toolCalls?.map(withoutNulls) ?? tools.map((tool) => callOf(tool, tools));
	// Servers of some scenarios reject every call: what counts is what they saw.
	const results = await Promise.allSettled(calls.map((call) => client.callTool(call)));
	for (const { uri } of (await client.listResources()).resources.filter((each) => !each.uri.startsWith("device:"))) {
		await client.readResource({ uri });
	}
	for (const { name } of (await client.listPrompts()).prompts) {
		await client.getPrompt({ name });
	}
	return results.flatMap((result) =>
		result.status === "rejected" ? [`${result.reason}`] : result.value.isError ? [JSON.stringify(result.value)] : [],
	);
}

/** The gateway passes on no arguments that break a tool's schema: what is null is left out. */
function withoutNulls({ name, arguments: args }: ToolCall): ToolCall {
	return { name, arguments: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) };
}

interface Schema {
	readonly type?: string;
	readonly default?: unknown;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
}

/** The tool that wants a schema gets the one of the first tool, as it was listed. */
function callOf({ name, inputSchema }: Tool, [first]: readonly Tool[]): ToolCall {
	const { properties = {}, required = [] } = inputSchema as Schema;
	const needed = Object.fromEntries(Object.entries(properties).filter(([key]) => required.includes(key)));
	const args = valuesFor(needed);
	return { name, arguments: "schema" in args ? { schema: first?.inputSchema } : args };
}

const VALUES: Readonly<Record<string, unknown>> = { string: "text", number: 2, integer: 2, boolean: true, array: [] };

function valuesFor(properties: Readonly<Record<string, Schema>>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(properties).map(([key, { type = "" }]) => [key, VALUES[type] ?? {}]));
}
