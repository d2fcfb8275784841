import { randomBytes } from "node:crypto";
import { type CallToolResult, isInputRequiredResult, type RequestId } from "@modelcontextprotocol/client";
import pLimit, { type LimitFunction } from "p-limit";
import {
	type OrInput,
	ServerError,
	type ServerIdentity,
	type ServerTool,
	type Upload,
	type Uploads,
} from "xs-mcp-manager/core";

/** A picture that a device has uploaded. */
export interface Picture {
	readonly mimeType: "image/jpeg" | "image/png";
	readonly data: Buffer;
}

/** The paths of the routes at which devices upload pictures. */
export const PICTURE_PATHS = { explain: "/vision/explain", upload: "/vision/upload" } as const;

/** The tool of the family that uploads the screen to a URL: the gateway offers one if the client names none. */
const SNAPSHOT_TOOL = "self.screen.snapshot";

/** Most pictures in memory, of all devices' calls. */
const MAX_PICTURES = 64;

/** A call in progress that takes a picture. The picture is dropped with it. */
export interface PictureCall {
	/** The call's argument; undefined if it has none, and leaves the question to the device. */
	readonly question: unknown;
	/** The id of its request; undefined until it is sent. */
	requestId: RequestId | undefined;
	picture: Picture | undefined;
	/** Why a picture was rejected. */
	problem: string | undefined;
	isOver: boolean;
	/** Settles when it has ended. */
	readonly over: Promise<void>;
	readonly end: () => void;
}

/** Maximum per device at the same time: the firmware makes two HTTP requests at most, and cameras take one picture at a time. */
const MAX_PICTURE_CALLS = 2;

/** The uploads of a device during one session. */
export interface PictureSession {
	readonly identity: ServerIdentity;
	/** The bearer token that the device got in `initialize`. */
	readonly token: string;
	readonly url: string;
	/** Calls of tools that have a question, oldest first. */
	readonly calls: Set<PictureCall>;
	/** Whether the device names the request of an upload: this firmware does, others of the family do not. */
	namesRequests: boolean;
	/** Calls that upload a picture wait for one another. */
	readonly limit: LimitFunction;
}

/**
 * Gives devices an upload URL for pictures, and adds each picture to the result of its call. A device
 * can upload only while such a call is in progress, and only to its own calls.
 */
export class Pictures implements Uploads {
	readonly #urlFor: (identity: ServerIdentity) => string | undefined;
	readonly #sessions = new Map<ServerIdentity, PictureSession>();
	readonly #byToken = new Map<string, PictureSession>();
	/** Calls with an upload URL of their own, by the ticket in it. */
	readonly #byTicket = new Map<string, PictureCall>();
	/** Results of {@link offered} by list: thousands of devices have the same. */
	readonly #offered = new WeakMap<readonly ServerTool[], readonly ServerTool[]>();
	#kept = 0;

	/** @param urlFor returns the URL of the gateway's routes for devices, without a path; undefined if the device cannot reach them */
	constructor(urlFor: (identity: ServerIdentity) => string | undefined) {
		this.#urlFor = urlFor;
	}

	begin(identity: ServerIdentity): { readonly vision?: { readonly url: string; readonly token: string } } {
		const url = this.#urlFor(identity);
		if (url === undefined) {
			return {};
		}
		const session = {
			identity,
			token: secret(),
			url,
			calls: new Set<PictureCall>(),
			namesRequests: false,
			limit: pLimit(MAX_PICTURE_CALLS),
		};
		this.#sessions.set(identity, session);
		this.#byToken.set(session.token, session);
		return { vision: { url: `${url}${PICTURE_PATHS.explain}`, token: session.token } };
	}

	end(identity: ServerIdentity): void {
		const session = this.#sessions.get(identity);
		if (session !== undefined) {
			this.#sessions.delete(identity);
			this.#byToken.delete(session.token);
		}
	}

	/** With an optional `url` in the snapshot tool: the gateway offers one. */
	offered(tools: readonly ServerTool[]): readonly ServerTool[] {
		const known = this.#offered.get(tools);
		if (known !== undefined) {
			return known;
		}
		const offered = tools.map((tool) => {
			const { name, inputSchema, description = "" } = tool;
			const { required, properties } = inputSchema;
			return name === SNAPSHOT_TOOL && properties?.url !== undefined && Array.isArray(required)
				? {
						...tool,
						description: `${description}\nWithout a URL, the picture is in the result.`.trimStart(),
						inputSchema: { ...inputSchema, required: required.filter((name) => name !== "url") },
					}
				: tool;
		});
		this.#offered.set(tools, offered);
		return offered;
	}

	sessionOf(token: string): PictureSession | undefined {
		return this.#byToken.get(token);
	}

	/** The call whose request has this id, as the device names it. */
	callOfRequest(session: PictureSession, id: string): PictureCall | undefined {
		session.namesRequests = true;
		return [...session.calls].find(({ requestId }) => String(requestId) === id);
	}

	/** The call for a picture with this question: one with the same question, or one without a question. */
	callFor({ calls }: PictureSession, question: string): PictureCall | undefined {
		const open = [...calls].filter(({ picture }) => picture === undefined);
		return open.find((each) => each.question === question) ?? open.find((each) => each.question === undefined);
	}

	callOf(ticket: string): PictureCall | undefined {
		return this.#byTicket.get(ticket);
	}

	/**
	 * A call starts. It gets an upload URL if the tool needs one and the client gave none.
	 *
	 * Rejects with ServerError "invalid-arguments" if an upload URL is needed but unknown.
	 */
	start(identity: ServerIdentity, tool: ServerTool, args: object): Promise<Upload> | undefined {
		const session = this.#sessions.get(identity);
		const { url, question } = tool.inputSchema.properties ?? {};
		if (tool.name === SNAPSHOT_TOOL && url !== undefined && (args as { url?: unknown }).url === undefined) {
			return this.#withTicket(session, args);
		}
		return session && question !== undefined ? this.#withQuestion(session, args) : undefined;
	}

	/**
	 * Keeps a picture for its call.
	 *
	 * @returns whether it was kept: false if the call has ended or has a picture, or too many wait in memory
	 */
	keep(call: PictureCall, picture: Picture): boolean {
		if (call.isOver || call.picture !== undefined || this.#kept >= MAX_PICTURES) {
			return false;
		}
		this.#kept += 1;
		call.picture = picture;
		return true;
	}

	async #withQuestion(session: PictureSession, args: object): Promise<Upload> {
		const { question } = args as { question?: unknown };
		const endTurn = await takeTurn(session.limit);
		for (let rival = rivalOf(session, question); rival !== undefined; rival = rivalOf(session, question)) {
			await rival.over;
		}
		const call = newCall(question);
		session.calls.add(call);
		const sent = (id: RequestId): void => {
			call.requestId = id;
		};
		const upload = this.#uploadOf(call, args, () => {
			session.calls.delete(call);
			endTurn();
		});
		return { ...upload, sent };
	}

	async #withTicket(session: PictureSession | undefined, args: object): Promise<Upload> {
		if (session === undefined) {
			const problem = "url: is missing, and the gateway knows no address for uploads to itself (setting publicUrl)";
			throw new ServerError("invalid-arguments", problem);
		}
		const endTurn = await takeTurn(session.limit);
		const ticket = secret();
		const call = newCall(undefined);
		this.#byTicket.set(ticket, call);
		const url = `${session.url}${PICTURE_PATHS.upload}/${ticket}`;
		return this.#uploadOf(call, { ...args, url }, () => {
			this.#byTicket.delete(ticket);
			endTurn();
		});
	}

	/** The upload of a call, whose picture is dropped at its end. */
	#uploadOf(call: PictureCall, args: object, onEnd: () => void): Upload {
		const end = (): void => {
			call.isOver = true;
			call.end();
			if (call.picture !== undefined) {
				this.#kept -= 1;
				call.picture = undefined;
			}
			onEnd();
		};
		return { args, complete: (result) => withUpload(result, call), end };
	}
}

function newCall(question: unknown): PictureCall {
	let end = (): void => {};
	const over = new Promise<void>((resolve) => {
		end = resolve;
	});
	return { question, requestId: undefined, picture: undefined, problem: undefined, isOver: false, over, end };
}

/** A call in progress whose picture could not be told from that of a call with this question. */
function rivalOf({ calls, namesRequests }: PictureSession, question: unknown): PictureCall | undefined {
	return namesRequests
		? undefined
		: [...calls].find((call) => call.question === question || call.question === undefined || question === undefined);
}

/** Resolves with a function that ends the turn. */
function takeTurn(limit: LimitFunction): Promise<() => void> {
	return new Promise((begin) => {
		void limit(() => new Promise<void>((end) => begin(end)));
	});
}

/** A result with the picture that the device has uploaded, or why it was rejected. */
function withUpload(result: OrInput<CallToolResult>, { picture, problem }: PictureCall): OrInput<CallToolResult> {
	if (isInputRequiredResult(result)) {
		return result;
	}
	const { content } = result;
	if (picture !== undefined) {
		const { mimeType, data } = picture;
		return { ...result, content: [...content, { type: "image", mimeType, data: data.toString("base64") }] };
	}
	// The device knows only the HTTP status.
	return problem === undefined || !result.isError
		? result
		: { ...result, content: [...content, { type: "text", text: `The gateway rejected the picture: ${problem}` }] };
}

/** 256 random bits. */
function secret(): string {
	return randomBytes(32).toString("base64url");
}
