import { type Readable, Transform } from "node:stream";
import {
	type CallToolResult,
	type ContentBlock,
	isSpecType,
	type JSONRPCMessage,
	ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { describeIssues, INVALID_RESPONSE, SERVER_ERROR } from "./errors.js";
import { jsonText, readCapabilities, readInfo } from "./results.js";

// Reads the messages of devices, upstream servers and clients. A member that is null counts as absent. Results: results.ts.

/** The value of JSON text; undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

type Members = Record<string, unknown>;

/** Members that hold data or schemas of their own. */
const VERBATIM: ReadonlySet<string> = new Set(["structuredContent", "inputSchema", "outputSchema", "requestedSchema"]);

/** Whether a member of a message is data, in which null is a value. A call's `arguments` are, a prompt's list is not. */
function isMessageData(key: string, member: unknown): boolean {
	const isVerbatim = VERBATIM.has(key) || (key === "arguments" && !Array.isArray(member));
	return key === "data" || (isVerbatim && member !== null);
}

/** Whether a member is data, and kept unchanged; `parent` is the name of the object that contains it. */
type IsData = (key: string, member: unknown, parent: string) => boolean;

/** Removes the null members of a protocol message. Returns the same object if it has none. */
export function withoutNulls<Value>(value: Value, isData: IsData = isMessageData): Value {
	return flawOf(value, MAX_NESTING) === undefined ? value : strip(value, isData, MAX_NESTING, "");
}

function strip<Value>(value: Value, isData: IsData, levels: number, parent: string): Value {
	if (typeof value !== "object" || value === null || levels === 0) {
		return value;
	}
	if (Array.isArray(value)) {
		const items = value.map((item) => strip(item, isData, levels - 1, ""));
		return items.some((item, index) => item !== value[index]) ? (items as Value) : value;
	}
	const members = Object.entries(value as object);
	const kept = members.flatMap(([key, member]): [string, unknown][] => {
		if (isData(key, member, parent)) {
			return [[key, member]];
		}
		return member === null ? [] : [[key, strip(member, isData, levels - 1, key)]];
	});
	const isSame = kept.length === members.length && kept.every(([, member], index) => member === members[index]?.[1]);
	return isSame ? value : (Object.fromEntries(kept) as Value);
}

/**
 * Returns "depth" if arrays and objects in a JSON value are nested deeper than `levels`, or else "null" if a member or
 * item is null. Allocates nothing, because most messages have neither.
 */
export function flawOf(value: unknown, levels: number): "depth" | "null" | undefined {
	if (typeof value !== "object") {
		return undefined;
	}
	if (value === null || levels === 0) {
		return value === null ? "null" : "depth";
	}
	let flaw: "null" | undefined;
	for (const key in value) {
		const found = flawOf((value as Members)[key], levels - 1);
		if (found === "depth") {
			return found;
		}
		flaw ??= found;
	}
	return flaw;
}

/**
 * Makes a message of a server valid JSON-RPC. Servers omit an error's code or message, or `jsonrpc`, or send null, or
 * numbers as text. An unusable response becomes an error response, so that its request fails at once.
 *
 * @throws Error with the reason if it is neither a request, a notification nor a response
 */
export function readMessage(value: unknown): JSONRPCMessage {
	if (!isObject(value)) {
		throw new Error("not a JSON object");
	}
	const flaw = flawOf(value, MAX_NESTING);
	const isTooDeep = flaw === "depth";
	const message = flaw === "null" ? withoutNulls(value) : value;
	const { id, method, params, result, error } = message;
	if (typeof method === "string") {
		if (isTooDeep) {
			throw new Error(TOO_DEEP);
		}
		if (id !== undefined && typeof id !== "string" && !Number.isSafeInteger(id)) {
			throw new Error("invalid request id: expected a string or an integer");
		}
		const given = isObject(params) && { params: method === PROGRESS ? readProgress(params) : params };
		return { jsonrpc: "2.0", ...(id !== undefined && { id }), method, ...given } as JSONRPCMessage;
	}
	// Ids of our requests are numbers, or strings that do not look like numbers.
	const answered = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
	if (typeof answered !== "number" && typeof answered !== "string") {
		const detail = isObject(error) || typeof error === "string" ? `: ${readError(error).message}` : "";
		throw new Error(`unexpected message: not a request, a notification or a response${detail}`);
	}
	const response = { jsonrpc: "2.0", id: answered } as const;
	if (isTooDeep) {
		return { ...response, error: invalidResponse(`the response is ${TOO_DEEP}`) };
	}
	if (isObject(error) || typeof error === "string") {
		return { ...response, error: readError(error) };
	}
	const isEmpty = result === undefined && value.result === null;
	if (error !== undefined || !(isObject(result) || isEmpty)) {
		return { ...response, error: invalidResponse("the response has neither a result nor an error that is valid") };
	}
	if (message === value || isEmpty) {
		return { jsonrpc: "2.0", id: answered, result: (result ?? {}) as Members };
	}
	const empty = Object.entries(value.result ?? {}).filter(([name, each]) => each === null && LISTS.has(name));
	return { ...response, result: { ...(result as Members), ...Object.fromEntries(empty.map(([name]) => [name, []])) } };
}

/** The lists that programs in Go send as null if they are empty. */
const LISTS: ReadonlySet<string> = new Set("tools resources resourceTemplates prompts contents messages".split(" "));

/** Levels of arrays and objects in a message of a server or a client. Deeper values could not be serialized again. */
export const MAX_NESTING = 100;

const TOO_DEEP = `nested deeper than ${MAX_NESTING} levels`;

const PROGRESS = "notifications/progress";

/** Reads a JSON-RPC message from text as {@link readMessage} does. Some programs begin their output with a byte order mark. */
export function parseMessage(text: string): JSONRPCMessage {
	return readMessage(JSON.parse(text.replace(/^\uFEFF/, "")));
}

/** Whether a value is a JSON-RPC message, valid or not, rather than another HTTP response. */
export function isMessageLike(value: unknown): value is Members {
	return isObject(value) && ("jsonrpc" in value || ("id" in value && ("result" in value || "error" in value)));
}

/**
 * Repairs a client's message: null members are removed, and `initialize` may lack members that the server does not
 * need. Other values are returned unchanged.
 */
export function readClientMessage(value: unknown): unknown {
	if (Array.isArray(value)) {
		return value.map(readClientMessage);
	}
	if (!isObject(value)) {
		return value;
	}
	const plain = flawOf(value, MAX_NESTING) === undefined ? value : strip(value, isMessageData, MAX_NESTING, "");
	// A request with null as its id would become a notification.
	const message = value.id === null ? { ...plain, id: null } : plain;
	const { method, params } = message;
	if (method !== "initialize" || !isObject(params) || isSpecType.InitializeRequestParams(params)) {
		return message;
	}
	const { capabilities, clientInfo, ...rest } = params;
	const isDeclared = (capability: unknown): boolean => isSpecType.ClientCapabilities(capability);
	return {
		...message,
		params: {
			...rest,
			capabilities: isObject(capabilities) ? readCapabilities(capabilities, isDeclared) : {},
			clientInfo: readInfo(clientInfo, "unknown"),
		},
	};
}

/** Makes an error's message readable for a client: that of a validation library lists members of schemas. */
export function readableError<Failure extends { readonly code: number; readonly message: string }>(
	error: Failure,
): Failure {
	const [, issues] = /^(?:Invalid [^[\n]*: )?(\[\s*\{\s*".*\])$/s.exec(error.message) ?? [];
	const listed = issues === undefined ? undefined : jsonIn(issues);
	if (!Array.isArray(listed) || !listed.every((issue) => isObject(issue) && Array.isArray(issue.path))) {
		return error;
	}
	const described = (listed as { path: string[]; message: unknown }[]).map(({ path, message }) => ({
		path: path[0] === "params" ? path.slice(1) : path,
		message: String(message),
	}));
	const message = `Invalid params: ${describeIssues(described, "params")}`;
	return { ...error, code: ProtocolErrorCode.InvalidParams, message };
}

function readError(error: string | Members): { code: number; message: string; data?: unknown } {
	const { code, message, data }: Members = typeof error === "string" ? { message: error } : error;
	const isCode = Number.isSafeInteger(code);
	const named = isCode || code === undefined ? "" : ` (${jsonText(code)})`;
	const unnamed = isCode ? `error ${jsonText(code)} without a message` : "error without a message";
	return {
		code: isCode ? (code as number) : SERVER_ERROR,
		message: message === undefined ? unnamed + named : jsonText(message) + named,
		...(data !== undefined && data !== null && { data }),
	};
}

function invalidResponse(message: string) {
	return { code: ProtocolErrorCode.InternalError, message, data: INVALID_RESPONSE };
}

function readProgress({ progressToken, progress, total, message, ...rest }: Members): Members {
	const [done, all] = [Number.parseFloat(jsonText(progress)), Number.parseFloat(jsonText(total))];
	return {
		...rest,
		progressToken:
			typeof progressToken === "string" && /^\d{1,15}$/.test(progressToken) ? Number(progressToken) : progressToken,
		progress: Number.isFinite(done) ? done : 0,
		...(Number.isFinite(all) && { total: all }),
		...(message !== undefined && { message: jsonText(message) }),
	};
}

/** A tool's result with one text. */
export function textResult(text: string, more: Omit<CallToolResult, "content"> = {}): CallToolResult {
	return { content: [{ type: "text", text }], ...more };
}

/** The result of a call that failed: a model reads the text, and may try again. */
export function failedResult(text: string, more: Omit<CallToolResult, "content" | "isError"> = {}): CallToolResult {
	return textResult(text, { isError: true, ...more });
}

/** The text of content. Other blocks are named in parentheses. */
export function textOf(
	content: readonly ContentBlock[],
	describe: (block: ContentBlock) => string = ({ type }) => `(${type})`,
): string {
	return content.map((block) => (block.type === "text" ? block.text : describe(block))).join("\n");
}

/** The structured result of a call, or else its text as JSON; undefined if it is neither. */
export function jsonOf({ structuredContent, content }: CallToolResult): unknown {
	return structuredContent ?? jsonIn(textOf(content));
}

/** Maximum bytes of one message of a server or a client. A longer one is an error. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Maximum bytes queued for a server that does not read. Beyond that, its connection ends. */
export const MAX_UNSENT_BYTES = 10 * 1024 * 1024;

/** Rate limit by a token bucket. */
export class RateLimit {
	readonly #perSecond: number;
	readonly #burst: number;
	#tokens: number;
	#filledAt = performance.now();

	/** @param burst events that may come at once */
	constructor(perSecond: number, burst = perSecond) {
		this.#perSecond = perSecond;
		this.#burst = burst;
		this.#tokens = burst;
	}

	/** Counts an event. Returns whether it is within the limit. */
	take(): boolean {
		const now = performance.now();
		const refill = ((now - this.#filledAt) / 1_000) * this.#perSecond;
		this.#tokens = Math.min(this.#burst, this.#tokens + refill);
		this.#filledAt = now;
		if (this.#tokens < 1) {
			return false;
		}
		this.#tokens -= 1;
		return true;
	}
}

/** Maximum bytes read from one server per second: parsing them takes less than a tenth of a core. */
const MAX_BYTES_PER_SECOND = 10 * 1024 * 1024;

/** Limits the read rate, so that a flooding server does not delay others. */
export class ReadBudget {
	#second = 0;
	#bytes = 0;

	/** Counts bytes that were read. Returns the milliseconds to wait before the next read, or 0. */
	spend(bytes: number): number {
		const now = performance.now();
		const second = Math.floor(now / 1_000);
		this.#bytes = second === this.#second ? this.#bytes + bytes : bytes;
		this.#second = second;
		return this.#bytes < MAX_BYTES_PER_SECOND ? 0 : (second + 1) * 1_000 - now;
	}

	/** Counts bytes that a stream has delivered, and pauses it when the budget is spent. */
	throttle(stream: { pause(): unknown; resume(): unknown }, bytes: number): void {
		const wait = this.spend(bytes);
		if (wait > 0) {
			stream.pause();
			setTimeout(() => stream.resume(), wait).unref();
		}
	}
}

/** Runs a task one at a time. Requests during a run share one more run afterwards. */
export function coalesced(task: () => Promise<void>): () => Promise<void> {
	const limit = pLimit(1);
	let next = Promise.resolve();
	return () => {
		next = limit.pendingCount === 0 ? limit(task) : next;
		return next;
	};
}

const LINE_FEED = 10;

/** Splits a stream of bytes into lines. Not the SDK's ReadBuffer, which copies its whole contents for each chunk. */
export class LineReader {
	/** Pieces of the incomplete line. */
	#pieces: Buffer[] = [];
	#bytes = 0;

	/**
	 * Yields the lines that a chunk of the stream completes, without line ends. The caller may stop early.
	 *
	 * @throws RangeError if a line is too long
	 */
	*linesOf(piece: Buffer): Generator<string> {
		let start = 0;
		for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
			this.#append(piece.subarray(start, end));
			const line = Buffer.concat(this.#pieces).toString();
			this.#pieces = [];
			this.#bytes = 0;
			start = end + 1;
			yield line;
		}
		this.#append(piece.subarray(start));
	}

	#append(part: Buffer): void {
		this.#bytes += part.length;
		if (this.#bytes > MAX_MESSAGE_BYTES) {
			throw new RangeError(`message too large (limit ${MAX_MESSAGE_BYTES} bytes)`);
		}
		this.#pieces.push(part);
	}
}

/** A stream of a client's messages, a line each, that the SDK's transport can read: see {@link readClientMessage}. */
export function clientInput(): Readable {
	const lines = new LineReader();
	const output = new Transform({
		transform(chunk: Buffer, _encoding, done) {
			try {
				for (const line of lines.linesOf(chunk)) {
					const message = jsonIn(line);
					this.push(`${message === undefined ? line : JSON.stringify(readClientMessage(message))}\n`);
				}
				done();
			} catch (error) {
				done(error as Error);
			}
		},
	});
	// The transport pauses it on close. Further reading of standard input would keep the process alive.
	output.once("pause", () => {
		process.stdin.unpipe(output);
		process.stdin.pause();
	});
	return process.stdin.pipe(output);
}
