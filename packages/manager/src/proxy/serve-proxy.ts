import { readFileSync } from "node:fs";
import {
	type CallToolResult,
	ProtocolError,
	ProtocolErrorCode,
	type RequestMethod,
	type Tool,
} from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Request, RequestContext } from "../core/connection.js";
import { ServerError, shared } from "../core/errors.js";
import {
	LIST_CHANGES,
	LISTS,
	type ListName,
	NO_OFFERS,
	type Offers,
	type ServerTool,
	withoutExecution,
} from "../core/offers.js";
import { clientInput, failedResult, readableError, textOf, textResult } from "../core/received.js";
import type { Complete, Results } from "../core/results.js";
import { MANAGER_INFO } from "../version.js";
import type { ProxyOptions } from "./proxy-options.js";
import { UPSTREAM_TIMING, Upstream } from "./upstream.js";

const CAPABILITIES = { tools: { listChanged: true }, resources: { listChanged: true }, prompts: { listChanged: true } };

/**
 * Serves an upstream's tools, resources and prompts to the host at the other end of this process's standard input and output, until it disconnects.
 */
export async function serveProxy(options: ProxyOptions, report: (error: Error) => void): Promise<void> {
	const proxy = makeProxy(options);
	/** More than one while the host negotiates the revision. */
	const servers = new Set<Server>();
	const open = (): Server => {
		const server = createServer(proxy, options.name);
		servers.add(server);
		server.onclose = () => servers.delete(server);
		return server;
	};
	proxy.upstream.on("listChanged", (method) => {
		for (const server of servers) {
			server.notification({ method }).catch(report);
		}
	});
	proxy.upstream.on("warning", (message) => report(new Error(message)));
	const transport = new StdioServerTransport(clientInput());
	const { send } = transport;
	transport.send = (message) =>
		send.call(transport, "error" in message ? { ...message, error: readableError(message.error) } : message);
	const handle = serveStdio(open, { transport, onerror: report });
	await new Promise<void>((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			onclose?.();
			resolve();
		};
		process.stdout.on("error", () => resolve());
	});
	await proxy.upstream.disconnect("the host has disconnected");
	await handle.close();
}

function createServer(proxy: McpProxy, name: string): Server {
	const { instructions } = proxy;
	const server = new Server(
		{ name, version: MANAGER_INFO.version },
		{ capabilities: CAPABILITIES, ...(instructions !== undefined && { instructions }) },
	);
	server.setRequestHandler("tools/list", async () => ({ tools: await proxy.listTools() }));
	server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
		const progressToken = mcpReq._meta?.progressToken;
		const onProgress = (progress: object): void => {
			// A host that has disconnected needs no progress.
			void mcpReq
				.notify({ method: "notifications/progress", params: { progress: 0, ...progress, progressToken } as never })
				.catch(() => {});
		};
		return await proxy.callTool(params.name, params.arguments ?? {}, {
			signal: mcpReq.signal,
			...(progressToken !== undefined && { onProgress }),
		});
	});
	for (const list of ["resources", "resourceTemplates", "prompts"] as const) {
		const method = LISTS[list].method as RequestMethod;
		server.setRequestHandler(method, async () => ({ [list]: await proxy.list(list) }) as never);
	}
	server.setRequestHandler("resources/read", ({ params: { uri } }, { mcpReq: { signal } }) =>
		proxy.request({ method: "resources/read", params: { uri } }, { signal }),
	);
	server.setRequestHandler("prompts/get", ({ params }, { mcpReq: { signal } }) =>
		proxy.request({ method: "prompts/get", params }, { signal }),
	);
	return server;
}

const ACTIVATE = "activate";

/** Texts for the host's model, in Japanese and English. The host's instructions are all that it knows about a locked proxy. */
const TEXTS = {
	instructions: (skill: string) => `Before you use these tools, load the skill ${skill} and call the tool activate.`,
	locked: (skill: string) =>
		`スキル ${skill} が未ロードです。ロードしてから activate を呼んでください (Load the skill ${skill}, then call activate.)`,
	disconnected: (reason: string) =>
		"上流MCP切断。activate を再度呼んでください " +
		`(The upstream MCP server is disconnected: ${reason}. Call activate again.)`,
	notReconnected: (reason: string) =>
		"自動再接続失敗。上流サービスの状態を確認してください " +
		`(Automatic reconnection failed: ${reason}. Check the upstream service.)`,
	notConnected: (reason: string) =>
		`接続失敗。上流サービスの状態を確認してください (Connection failed: ${reason}. Check the upstream service.)`,
	/** Appended for a call that was in progress when the connection ended. */
	perhapsCarriedOut: "The call may have been carried out.",
	reconnected: "The upstream MCP server was disconnected during the call. The proxy has connected again.",
};

type McpProxy = ReturnType<typeof makeProxy>;

/**
 * Makes the host's view of an upstream: its tools, resources and prompts. With a skill there is a gate: before
 * `activate` only the list of tools is requested from the upstream, and only `activate` connects. Without one, the
 * first request connects.
 *
 * @internal exported for its test
 */
export function makeProxy(options: ProxyOptions, timing = UPSTREAM_TIMING) {
	/** Whether there has been a connection: the next one is a reconnection. */
	let wasConnected = false;
	const isGated = options.skill !== "";
	let isLocked = isGated;
	const { connectTimeout: limit } = options;
	const limits = limit !== undefined && { connect: limit, start: limit, list: limit, ping: limit };
	const upstream = new Upstream(options.upstream, { ...timing, ...limits });

	const { tools: chosen, init } = options;
	const offers = (name: string): boolean =>
		(chosen === undefined || chosen.includes(name)) && !(isGated && name === ACTIVATE);

	/**
	 * Makes a request, unless the gate is locked. Without a gate, it connects on demand, and reconnects once if the
	 * connection is lost.
	 *
	 * @param fail turns an error text into a result, or throws it
	 */
	const pass = async <Result>(call: () => Promise<Result>, fail: (text: string) => Result): Promise<Result> => {
		const locked = isLocked ? TEXTS.locked(options.skill) : undefined;
		try {
			const problem = isGated ? locked : await connect();
			if (problem !== undefined) {
				return fail(problem);
			}
			try {
				return await call();
			} catch (error) {
				const lost = textOfLoss(error, isGated ? TEXTS.disconnected : TEXTS.notReconnected);
				if (isGated || (await connect()) !== undefined) {
					return fail(lost);
				}
				if ((error as ServerError).code === "server-disconnected") {
					// Not repeated: the upstream may already have done the work.
					return fail(`${TEXTS.reconnected} ${TEXTS.perhapsCarriedOut}`);
				}
			}
			return await call().catch((error) => fail(textOfLoss(error, TEXTS.notReconnected)));
		} catch (error) {
			if (error instanceof ServerError) {
				return fail(`${error.message}. ${TEXTS.perhapsCarriedOut}`);
			}
			throw error;
		}
	};

	/** The text for a request that failed because the connection was lost. Throws any other error. */
	const textOfLoss = (error: unknown, describe: (reason: string) => string): string => {
		const code = error instanceof ServerError ? error.code : undefined;
		// A response without an answer leaves the connection open.
		const isCut = code === "server-disconnected" && !upstream.isConnected;
		if (!isCut && code !== "server-offline") {
			throw error;
		}
		const text = describe(upstream.lostReason);
		return isCut ? `${text} ${TEXTS.perhapsCarriedOut}` : text;
	};

	/** Connects, unless it is connected. Returns an error text if that fails. */
	const connect = async (): Promise<string | undefined> => {
		const describe = wasConnected ? TEXTS.notReconnected : TEXTS.notConnected;
		try {
			await upstream.connect();
			wasConnected = true;
			return undefined;
		} catch (error) {
			return describe((error as Error).message);
		}
	};

	/** Connects if necessary, runs the init script, and opens the gate. */
	const activate = shared(async (): Promise<CallToolResult> => {
		let tools: Offers["tools"];
		try {
			await upstream.check();
			await upstream.connect();
		} catch (error) {
			return failedResult(TEXTS.notConnected((error as Error).message));
		}
		try {
			tools = await upstream.list("tools", false);
			if (init !== undefined) {
				await runInitScript(upstream, init, tools);
			}
		} catch (error) {
			// An upstream that was not initialized must not be used: until the next activate, calls fail as disconnected.
			await upstream.disconnect("activate failed");
			return failedResult(`activate failed: ${(error as Error).message}`);
		}
		isLocked = false;
		for (const method of LIST_CHANGES) {
			upstream.emit("listChanged", method);
		}
		const names = tools.map(({ name }) => name).filter(offers);
		const ran = init === undefined ? "" : ` ${init.script} was run by ${init.tool}.`;
		return textResult(`Connected to ${options.upstream.shown}.${ran} Tools (${names.length}): ${names.join(", ")}`);
	});

	return {
		upstream,
		instructions: isGated ? TEXTS.instructions(options.skill) : undefined,
		/**
		 * Lists tools as the upstream lists them or last did; if it never has, the configured names without schemas.
		 *
		 * Rejects with ProtocolError if the upstream fails to list them and nothing else is known.
		 */
		async listTools(): Promise<Tool[]> {
			const tools = await upstream.list("tools", !isGated).catch((error): readonly ServerTool[] => {
				if (!isGated && !chosen?.length) {
					throw error;
				}
				return chosen?.map((name) => ({ name, inputSchema: { type: "object" } })) ?? [];
			});
			const offered = tools.filter(({ name }) => offers(name)).map(withoutExecution);
			if (!isGated) {
				return offered;
			}
			const description =
				`Connects to ${options.name} and unlocks its tools. Load the skill ${options.skill} first. ` +
				"Call it again if a tool says that the upstream is disconnected.";
			const inputSchema = { type: "object" as const, properties: {} };
			return [{ name: ACTIVATE, description, inputSchema, annotations: { idempotentHint: true } }, ...offered];
		},
		/**
		 * Resources, templates or prompts, as the upstream lists them or has listed them last. None while the gate is locked.
		 *
		 * Rejects with ProtocolError if the upstream fails to list them, and has never listed them.
		 */
		async list<List extends Exclude<ListName, "tools">>(list: List): Promise<Offers[List]> {
			return isLocked ? NO_OFFERS[list] : await upstream.list(list, !isGated);
		},
		/** Rejects with the SDK's ProtocolError if that is the upstream's answer. */
		async callTool(name: string, args: object, context: RequestContext): Promise<CallToolResult> {
			if (isGated && name === ACTIVATE) {
				return await activate();
			}
			if (!offers(name)) {
				return failedResult(`Tool ${name} not found`);
			}
			return await pass(
				() => upstream.request({ method: "tools/call", params: { name, arguments: args } }, context),
				failedResult,
			);
		},
		/** Makes a request other than a call. Rejects with ProtocolError: the upstream's, or one with the gate's text. */
		async request<Method extends keyof Results>(
			request: Request<Method>,
			context: RequestContext,
		): Promise<Complete<Results[Method]>> {
			return await pass(
				() => upstream.request(request, context),
				(text) => {
					throw new ProtocolError(ProtocolErrorCode.InternalError, text);
				},
			);
		},
	};
}

/** Characters of a failed script's answer, for the error message. */
const MAX_QUOTE = 1_000;

/**
 * Runs a script on the upstream, as the argument of one of its tools. Rejects with an Error that gives the reason.
 *
 * @param script its path. Read each time, so that a changed script needs no restart
 * @param tool the upstream's tool that runs it
 */
async function runInitScript(
	upstream: Upstream,
	{ script, tool }: { readonly script: string; readonly tool: string },
	tools: readonly ServerTool[],
): Promise<void> {
	const found = tools.find(({ name }) => name === tool);
	if (found === undefined) {
		throw new Error(`--init-tool: the upstream has no tool ${tool}`);
	}
	const code = readFileSync(script, "utf8");
	const { properties = {}, required = [] } = found.inputSchema;
	const parameter = Object.hasOwn(properties, "code") ? "code" : (required[0] ?? "code");
	const call = { name: tool, arguments: { [parameter]: code } };
	const { isError, content } = await upstream.request({ method: "tools/call", params: call });
	if (isError) {
		throw new Error(`${tool} failed with ${script}: ${textOf(content).slice(0, MAX_QUOTE)}`);
	}
}
