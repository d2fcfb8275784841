import { validateHeaderName, validateHeaderValue } from "node:http";
import { homedir } from "node:os";
import { basename } from "node:path";
import type { AuthProvider } from "@modelcontextprotocol/client";
import * as z from "zod";
import { McpError, RETRY_POLICY } from "../core/errors.js";

/** Which tools clients may call. A name may contain `*`. */
const TOOLS = z.strictObject({
	allow: z.array(z.string()).optional().describe("Only these tools are offered; * matches any characters"),
	deny: z.array(z.string()).optional().describe("These tools are not offered"),
});

/** How much of the machine a server over stdio gets. */
const ISOLATION = z.strictObject({
	environment: z
		.enum(["default", "given"])
		.default("default")
		.describe("given: only the variables in env; default: also HOME, PATH and the like"),
	memory: z
		.int()
		.min(16)
		.optional()
		.describe("Megabytes of memory that each of its processes may write to (Linux: prlimit)"),
	cpuTime: z.int().min(1).optional().describe("Seconds of processor time (Linux: prlimit)"),
	sandbox: z
		.enum(["none", "bubblewrap"])
		.default("none")
		.describe("bubblewrap: it sees its working folder, what programs need to start, and no network"),
	readable: z.array(z.string().min(1)).optional().describe("Files and folders that it may also read in the sandbox"),
});

const DIRECT_TOOLS = z
	.union([z.boolean(), z.array(z.string())])
	.describe(
		"Whether an agent's host (pi) offers the server's tools themselves, or those that are named; * for any characters",
	);

const SECRET = z.string().min(1);

/** How requests to a server over HTTP or WebSocket are authenticated, as in a servers file. */
const AUTH = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("bearer"), token: SECRET.describe("Sent as Authorization: Bearer") }),
	z.strictObject({ type: z.literal("basic"), username: SECRET, password: z.string() }),
	z.strictObject({
		type: z.literal("api-key"),
		key: SECRET,
		header: z.string().min(1).default("X-API-Key").describe("The header that carries the key"),
	}),
	z.strictObject({
		type: z.literal("oauth2"),
		grant: z
			.enum(["authorization_code", "client_credentials"])
			.default("authorization_code")
			.describe("authorization_code: a person signs in once; client_credentials: the client id and secret do"),
		clientId: SECRET.optional().describe("Of a registered client. Default: the client registers itself"),
		clientSecret: SECRET.optional(),
		clientMetadataUrl: z
			.string()
			.regex(/^https:\/\/[^/]+\/./, "expected an https URL with a path")
			.optional()
			.describe("Of a client ID metadata document, which a server may accept in place of a registration"),
		scope: SECRET.optional().describe("Scopes to ask for, separated by spaces. Default: those that the server names"),
	}),
]);

type AuthOfFile = z.input<typeof AUTH>;

/** The settings of OAuth 2.1. */
export type OAuthSettings = Extract<z.output<typeof AUTH>, { type: "oauth2" }>;

/** Authentication of a program's own: `token` is called before each request, `onUnauthorized` after status 401. */
type CustomAuth = { readonly type: "custom" } & AuthProvider;

/** How requests to a server are authenticated. Only programs can use `custom`. */
export type McpAuthProvider = AuthOfFile | CustomAuth;

/** The longest time for a call, in milliseconds: an hour, which no request exceeds, even with progress. */
export const MAX_TIMEOUT = 3_600_000;

const TRANSPORTS = ["stdio", "http", "streamable-http", "sse", "websocket"] as const;

/** The members of a server's entry in a file, in every documented shape. */
export const SERVER_FIELDS = {
	name: z.string().optional().describe("Name for people"),
	description: z.string().optional(),
	url: z.string().min(1).optional().describe("URL, or a command for stdio"),
	command: z.string().min(1).optional().describe("Command that starts the server (stdio)"),
	args: z.array(z.string()).optional(),
	env: z.record(z.string(), z.string()).optional().describe("Environment variables of the command"),
	cwd: z.string().min(1).optional().describe("Working folder of the command"),
	headers: z.record(z.string(), z.string()).optional().describe("HTTP headers"),
	auth: AUTH.optional().describe("How requests are authenticated. Default: headers, or a sign-in"),
	transport: z.enum(TRANSPORTS).optional().describe("Default: as the URL says"),
	enabled: z.boolean().optional().describe("Whether to connect at the start"),
	lazy: z
		.boolean()
		.optional()
		.describe("Whether an enabled server is connected only when it is first needed. Default false"),
	timeout: z
		.int()
		.min(1_000)
		.max(MAX_TIMEOUT)
		.optional()
		.describe("Milliseconds for connecting and for a call. Default 30000"),
	retryPolicy: RETRY_POLICY.optional(),
	maxParallel: z.int().min(1).max(1_000).optional().describe("Calls at the same time. Default 10"),
	autoApprove: z
		.union([z.boolean(), z.array(z.string())])
		.optional()
		.describe("Whether mcp_call_tool may call tools without asking the person; or the tools that it may"),
	directTools: DIRECT_TOOLS.optional(),
	tools: TOOLS.optional(),
	isolation: ISOLATION.optional(),
};

/** An entry of a list of servers. Without an `id`, its `name` is the id. */
export const LISTED_SERVER = z.strictObject({ id: z.string().optional(), ...SERVER_FIELDS });

/** An entry of a host after its conversion by {@link hostEntry}. Its key in the file is its name. */
export const HOST_SERVER = z.object(SERVER_FIELDS);

type TransportType = "stdio" | "http" | "sse" | "websocket";

/** A server that the gateway connects to, with every default filled in. `headers` include a fixed secret of `auth`. */
export type ServerConfig = Readonly<ReturnType<typeof serverConfig>>;

/** The input for a server: a URL or a command, and settings that differ from the defaults. */
export type ServerInput = {
	readonly id: string;
	/** Shown instead of the URL or command, which may contain secrets. */
	readonly shown?: string;
	readonly auth?: McpAuthProvider | undefined;
} & Omit<z.input<z.ZodObject<typeof SERVER_FIELDS>>, "auth">;

/** Defaults for all servers. */
export const OPTIONS = z.object({
	maxParallel: z.int().min(1).max(1_000).optional().describe("Calls at the same time, for each server. Default 10"),
	timeout: SERVER_FIELDS.timeout,
	retryPolicy: RETRY_POLICY.optional(),
	directTools: DIRECT_TOOLS.optional(),
});
export type ServerOptions = z.input<typeof OPTIONS>;

const ID = /^[A-Za-z0-9_-]+$/;
const ID_RULE = "must contain only alphanumeric characters, underscores and hyphens";

/** The member of a server's entry that is invalid: "url", "headers.Accept". */
type FieldProblem = Readonly<Record<"field" | "problem", string>>;

function fieldError(field: string, problem: string): McpError {
	return new McpError("INVALID_REQUEST", `${field}: ${problem}`, {
		details: { field, problem } satisfies FieldProblem,
	});
}

/** The invalid member that an error of {@link serverConfig} names. Throws any other error again. */
export function fieldProblemOf(error: unknown): FieldProblem {
	const details = error instanceof McpError ? (error.details as FieldProblem | undefined) : undefined;
	if (details?.field === undefined) {
		throw error;
	}
	return details;
}

/**
 * Fills in the defaults.
 *
 * @throws McpError "INVALID_REQUEST": see {@link fieldProblemOf}
 */
export function serverConfig(input: ServerInput, options: ServerOptions = {}) {
	if (!ID.test(input.id)) {
		throw fieldError("id", `${ID_RULE}, got ${JSON.stringify(input.id)}`);
	}
	const { url, command, args = [] } = input;
	if ((url === undefined) === (command === undefined)) {
		throw fieldError("url", "expected either url or command");
	}
	const transport = transportOf(input);
	if (transport !== "stdio" && url === undefined) {
		throw fieldError("url", `missing: the transport ${transport} needs one`);
	}
	const words = url === undefined || transport !== "stdio" ? [command ?? "", ...args] : [...wordsOf(url), ...args];
	const auth = authOf(input.auth, transport);
	const shown = input.shown ?? (transport === "stdio" ? words.join(" ") : (url as string));
	return {
		...input,
		/** A URL, or a command with its arguments, for display: environment variables are not expanded. */
		shown,
		/** Empty for stdio. */
		url: transport === "stdio" ? "" : checkedUrl(url as string, transport, shown),
		transport,
		/** Whether the entry names its transport. If not, a server over HTTP may have only SSE. */
		isTransportGiven: input.transport !== undefined,
		/** For stdio. */
		command: words[0] as string,
		args: words.slice(1),
		env: input.env ?? {},
		cwd: input.cwd?.replace(/^~(?=\/|$)/, homedir()),
		...auth,
		headers: checkedHeaders({ ...input.headers, ...auth.headers }),
		enabled: input.enabled ?? true,
		lazy: input.lazy ?? false,
		timeout: input.timeout ?? options.timeout ?? 30_000,
		retryPolicy: RETRY_POLICY.optional().parse(input.retryPolicy ?? options.retryPolicy),
		maxParallel: input.maxParallel ?? options.maxParallel ?? 10,
		autoApprove: input.autoApprove ?? false,
		directTools: input.directTools ?? options.directTools ?? false,
		tools: input.tools ?? {},
		isolation: isolationOf(input.isolation, words[0] as string),
	};
}

/** Megabytes in which a server on this version of Node.js starts, measured: since 24, V8 reserves 512 MB for code. */
const MIN_NODE_MEMORY = Number.parseInt(process.versions.node, 10) < 24 ? 128 : 640;

/** @throws McpError if the command is a program of Node.js, which could not start */
function isolationOf(input: ServerInput["isolation"] = {}, command: string): z.output<typeof ISOLATION> {
	const isolation = ISOLATION.parse(input);
	const { memory = MIN_NODE_MEMORY } = isolation;
	if (memory < MIN_NODE_MEMORY && /^(?:node|npm|npx)(?:\.exe|\.cmd)?$/i.test(basename(command))) {
		const problem = `Node.js ${process.versions.node} needs at least ${MIN_NODE_MEMORY} (MB), got ${memory}`;
		throw fieldError("isolation.memory", problem);
	}
	return isolation;
}

/** The headers of a fixed secret, or how to sign in. @throws McpError if the transport cannot use it */
function authOf(
	input: McpAuthProvider | undefined,
	transport: TransportType,
): { headers?: Record<string, string>; oauth?: OAuthSettings; authProvider?: AuthProvider } {
	if (input === undefined) {
		return {};
	}
	if (transport === "stdio") {
		throw fieldError("auth", "not for a command: its secrets are environment variables (env)");
	}
	if ((input.type === "oauth2" || input.type === "custom") && transport === "websocket") {
		throw fieldError("auth.type", `${input.type}: only over HTTP`);
	}
	if (input.type === "custom") {
		return { authProvider: input };
	}
	const auth = AUTH.parse(input);
	switch (auth.type) {
		case "bearer":
			return { headers: { Authorization: `Bearer ${auth.token}` } };
		case "basic": {
			const credentials = Buffer.from(`${auth.username}:${auth.password}`).toString("base64");
			return { headers: { Authorization: `Basic ${credentials}` } };
		}
		case "api-key":
			return { headers: { [auth.header]: auth.key } };
		case "oauth2": {
			const missing = (["clientId", "clientSecret"] as const).find((name) => auth[name] === undefined);
			if (auth.grant === "client_credentials" && missing !== undefined) {
				throw fieldError(`auth.${missing}`, "missing: the grant client_credentials needs it");
			}
			return { oauth: auth };
		}
	}
}

/** The transport that an entry names, or else the one that its URL implies. */
export function transportOf({ transport, url }: Pick<ServerInput, "transport" | "url">): TransportType {
	if (transport !== undefined) {
		return transport === "streamable-http" ? "http" : transport;
	}
	const scheme = /^([a-z+]+):\/\//i.exec(url ?? "")?.[1]?.toLowerCase();
	// A URL with another scheme is not a command: {@link checkedUrl} rejects it.
	return scheme === undefined ? "stdio" : (TRANSPORT_OF_SCHEME[scheme] ?? "http");
}

const TRANSPORT_OF_SCHEME: Readonly<Record<string, TransportType>> = {
	http: "http",
	https: "http",
	sse: "sse",
	"http+sse": "sse",
	"https+sse": "sse",
	ws: "websocket",
	wss: "websocket",
};

/** @param shown the text that the error quotes: the URL may hold secrets */
function checkedUrl(url: string, transport: TransportType, shown: string): string {
	if (!URL.canParse(url) || TRANSPORT_OF_SCHEME[new URL(url).protocol.slice(0, -1)] === undefined) {
		throw fieldError(
			"url",
			`Invalid protocol: use http://, https://, sse://, ws:// or a command, got ${JSON.stringify(shown)}`,
		);
	}
	const { username, password } = new URL(url);
	if (transport !== "websocket" && (username || password)) {
		// `fetch` rejects it with an error that quotes the password.
		throw fieldError("url", "must not contain a user name or password: use auth (type basic)");
	}
	return url;
}

/** The errors do not quote the values: they may be secrets. */
function checkedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
	for (const [name, value] of Object.entries(headers)) {
		check(() => validateHeaderName(name), `headers.${name}`, "invalid HTTP header name");
		check(() => validateHeaderValue(name, value), `headers.${name}`, "invalid character in the header's value");
	}
	return headers;
}

function check(validate: () => void, field: string, problem: string): void {
	try {
		validate();
	} catch {
		throw fieldError(field, problem);
	}
}

/** The words of a command, which are separated by spaces; a word in quotes may contain some, and so may `${NAME:-text}`. */
export function wordsOf(command: string): string[] {
	const words = command.match(/(?:"[^"]*"|'[^']*'|\$\{[^}]*\}|[^\s"'])+/g) ?? [];
	if (words.length === 0) {
		throw fieldError("url", "is empty");
	}
	return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

/** Whether a name matches one of these patterns, in which `*` matches any characters. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
	return patterns.some((pattern) => {
		const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
	});
}
