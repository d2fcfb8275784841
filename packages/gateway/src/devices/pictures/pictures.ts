import { randomBytes } from "node:crypto";
import { type CallToolResult, isInputRequiredResult, type RequestId } from "@modelcontextprotocol/client";
import pLimit, { type LimitFunction } from "p-limit";
import { type OrInput, ServerError, type ServerIdentity, type ServerTool, type Upload } from "xs-mcp-manager/core";

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

/** The pictures that devices upload. */
export type Pictures = ReturnType<typeof makePictures>;

/**
 * Gives devices an upload URL for pictures, and adds each picture to the result of its call. A device
 * can upload only while such a call is in progress, and only to its own calls.
 *
 * @param urlFor returns the URL of the gateway's routes for devices, without a path; undefined if the device cannot reach them
 */
export function makePictures(urlFor: (identity: ServerIdentity) => string | undefined) {
	const sessions = new Map<ServerIdentity, PictureSession>();
	const byToken = new Map<string, PictureSession>();
	/** Calls with an upload URL of their own, by the ticket in it. */
	const byTicket = new Map<string, PictureCall>();
	/** Results of `offered` by list: thousands of devices have the same. */
	const offeredOf = new WeakMap<readonly ServerTool[], readonly ServerTool[]>();
	let kept = 0;

	/** Starts a call that uploads to its own URL, or whose question identifies the picture. */
	const startUpload = async (session: PictureSession, args: object, hasUrl: boolean): Promise<Upload> => {
		const { over, end } = await takeTurn(session.limit);
		const ticket = secret();
		const { question } = (hasUrl ? {} : args) as { question?: unknown };
		const call: PictureCall = {
			question,
			requestId: undefined,
			picture: undefined,
			problem: undefined,
			isOver: false,
			over,
		};
		if (hasUrl) {
			byTicket.set(ticket, call);
		} else {
			for (let rival = rivalOf(session, question); rival !== undefined; rival = rivalOf(session, question)) {
				await rival.over;
			}
			session.calls.add(call);
		}
		return {
			args: hasUrl ? { ...args, url: `${session.url}${PICTURE_PATHS.upload}/${ticket}` } : args,
			sent(id) {
				call.requestId = id;
			},
			complete: (result) => withUpload(result, call),
			end() {
				call.isOver = true;
				kept -= call.picture === undefined ? 0 : 1;
				call.picture = undefined;
				byTicket.delete(ticket);
				session.calls.delete(call);
				end();
			},
		};
	};

	return {
		begin(identity: ServerIdentity): { readonly vision?: { readonly url: string; readonly token: string } } {
			const url = urlFor(identity);
			if (url === undefined) {
				return {};
			}
			const limit = pLimit(MAX_PICTURE_CALLS);
			const session = { identity, token: secret(), url, calls: new Set<PictureCall>(), namesRequests: false, limit };
			sessions.set(identity, session);
			byToken.set(session.token, session);
			return { vision: { url: `${url}${PICTURE_PATHS.explain}`, token: session.token } };
		},
		end(identity: ServerIdentity): void {
			byToken.delete(sessions.get(identity)?.token ?? "");
			sessions.delete(identity);
		},
		/** Returns the tools with an optional `url` in the snapshot tool: the gateway offers one. */
		offered(tools: readonly ServerTool[]): readonly ServerTool[] {
			const offered = offeredOf.get(tools) ?? tools.map(withOptionalUrl);
			offeredOf.set(tools, offered);
			return offered;
		},
		sessionOf: (token: string) => byToken.get(token),
		/** Returns the call whose request has this id, as the device names it. */
		callOfRequest(session: PictureSession, id: string): PictureCall | undefined {
			session.namesRequests = true;
			return [...session.calls].find(({ requestId }) => String(requestId) === id);
		},
		/** Returns the call for a picture with this question: one with the same question, or one without a question. */
		callFor({ calls }: PictureSession, question: string): PictureCall | undefined {
			const open = [...calls].filter(({ picture }) => picture === undefined);
			return open.find((each) => each.question === question) ?? open.find((each) => each.question === undefined);
		},
		callOf: (ticket: string) => byTicket.get(ticket),
		/**
		 * Starts a call. It gets an upload URL if the tool needs one and the client gave none.
		 *
		 * Throws ServerError "invalid-arguments" if an upload URL is needed but unknown.
		 */
		start(identity: ServerIdentity, tool: ServerTool, args: object): Promise<Upload> | undefined {
			const session = sessions.get(identity);
			const { url, question } = tool.inputSchema.properties ?? {};
			const needsUrl =
				tool.name === SNAPSHOT_TOOL && url !== undefined && (args as { url?: unknown }).url === undefined;
			if (session === undefined && needsUrl) {
				const problem = "url: is missing, and the gateway knows no address for uploads to itself (setting publicUrl)";
				throw new ServerError("invalid-arguments", problem);
			}
			return session && (needsUrl || question !== undefined) ? startUpload(session, args, needsUrl) : undefined;
		},
		/**
		 * Keeps a picture for its call.
		 *
		 * @returns whether it was kept: false if the call has ended or has a picture, or too many wait in memory
		 */
		keep(call: PictureCall, picture: Picture): boolean {
			if (call.isOver || call.picture !== undefined || kept >= MAX_PICTURES) {
				return false;
			}
			kept += 1;
			call.picture = picture;
			return true;
		},
	};
}

function withOptionalUrl(tool: ServerTool): ServerTool {
	const { name, inputSchema, description = "" } = tool;
	const { required, properties } = inputSchema;
	return name === SNAPSHOT_TOOL && properties?.url !== undefined && Array.isArray(required)
		? {
				...tool,
				description: `${description}\nWithout a URL, the picture is in the result.`.trimStart(),
				inputSchema: { ...inputSchema, required: required.filter((each) => each !== "url") },
			}
		: tool;
}

/** A call in progress whose picture could not be told from that of a call with this question. */
function rivalOf({ calls, namesRequests }: PictureSession, question: unknown): PictureCall | undefined {
	return namesRequests
		? undefined
		: [...calls].find((call) => call.question === question || call.question === undefined || question === undefined);
}

/** Resolves with a function that ends the turn, and a promise that resolves then. */
function takeTurn(limit: LimitFunction): Promise<{ readonly over: Promise<void>; readonly end: () => void }> {
	return new Promise((begin) => {
		const over: Promise<void> = limit(() => new Promise<void>((end) => begin({ over, end })));
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
