import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import * as z from "zod";
import { deviceIdOf } from "../../config/access.js";
import type { RunningGateway } from "../../gateway.js";
import { GatewayError } from "../../gateway-error.js";
import { type ModelService, post } from "../../http/model-service.js";
import { allow } from "../../http/route.js";
import { clients } from "../../transports/plugin.js";
import { PICTURE_PATHS, type Picture, type PictureCall, type PictureSession } from "./pictures.js";

/** Most pictures received at the same time. */
const MAX_UPLOADS = 32;

/** Most of them per call: a device may retry, but not block all others. */
const MAX_UPLOADS_PER_CALL = 2;

/** The header in which a device names the request of the call. */
const REQUEST_ID = "Mcp-Request-Id";

/** The answer to the device, and so to the client, without a vision model. */
const IN_RESULT = "The picture is in the result of this call.";

/**
 * Serves the uploads of pictures of calls in progress.
 *
 * - `POST /vision/explain`: a question and a picture, with the token that the device got in `initialize`. The header names the
 *   request of the call; without it, the question identifies the call.
 * - `POST /vision/upload/TICKET`: a picture for the call that has this ticket.
 */
export function addPictureRoutes(gateway: RunningGateway): void {
	const { deviceRoutes: app, pictures, log } = gateway;
	const { maxPictureBytes, visionUrl: url, visionModel: model, visionKey: key } = gateway.settings;
	const { guard, limits } = gateway.use(clients);
	const visionModel = url && model ? { url, model, key } : undefined;
	/** The session, or the call of a ticket, of each upload in progress. */
	const uploads: (PictureSession | PictureCall)[] = [];

	const rejectToken = async (request: IncomingMessage, problem: string): Promise<never> => {
		await limits.wrongToken(guard.addressOf(request));
		throw new GatewayError("unauthorized", problem);
	};

	/** Rejects with GatewayError: 401 if the token is wrong or another device's, 429 after too many. */
	const authenticate = async (request: IncomingMessage): Promise<PictureSession> => {
		const secret = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
		const session = pictures.sessionOf(secret ?? "");
		if (session === undefined) {
			await limits.attempt(guard.addressOf(request));
			return await rejectToken(request, "unknown bearer token");
		}
		await limits.request(`token of the device ${session.identity.id}`);
		const { id, clientId, transport } = session.identity;
		const { "device-id": device = id, "client-id": client = clientId } = request.headers;
		// Over MQTT, a device's id is its MQTT client id, which its headers do not contain.
		return transport !== "websocket" || (deviceIdOf(`${device}`) === id && (clientId === "" || client === clientId))
			? session
			: await rejectToken(request, "the token belongs to another device");
	};

	/**
	 * Receives a picture. Rejects with GatewayError (503) if too many uploads are in progress, in all or of the device.
	 *
	 * @param call notified if the picture is rejected; undefined if its call is not known yet
	 */
	const receive = async (
		request: IncomingMessage,
		of: PictureSession | PictureCall,
		limit: number,
		call: PictureCall | undefined,
	): Promise<{ question: string; picture: Picture }> => {
		const own = uploads.filter((each) => each === of).length;
		if (own >= limit || uploads.length >= MAX_UPLOADS) {
			const reached = own >= limit ? limit : MAX_UPLOADS;
			throw new GatewayError("busy", `too many uploads (limit ${reached})`, { headers: { "Retry-After": "1" } });
		}
		uploads.push(of);
		try {
			const { fields, file } = await readForm(request, maxPictureBytes);
			return { question: fields.get("question") ?? "", picture: pictureOf(file) };
		} catch (error) {
			if (call !== undefined && error instanceof GatewayError) {
				call.problem = error.message;
			}
			throw error;
		} finally {
			uploads.splice(uploads.indexOf(of), 1);
		}
	};

	const keep = (call: PictureCall | undefined, picture: Picture): void => {
		if (call === undefined || !pictures.keep(call, picture)) {
			throw unexpected();
		}
	};

	app.all(PICTURE_PATHS.explain, allow("POST"), async (c) => {
		const { incoming } = c.env;
		const session = await authenticate(incoming);
		const id = c.req.header(REQUEST_ID);
		const named = id === undefined ? undefined : pictures.callOfRequest(session, id);
		if (session.calls.size === 0 || (id !== undefined && named === undefined)) {
			throw unexpected();
		}
		const [only, ...others] = session.calls;
		const limit = session.calls.size * MAX_UPLOADS_PER_CALL;
		const known = named ?? (others.length === 0 ? only : undefined);
		const { question, picture } = await receive(incoming, session, limit, known);
		keep(named ?? pictures.callFor(session, question), picture);
		try {
			const response = visionModel ? await askVisionModel(visionModel, question, picture) : IN_RESULT;
			return c.json({ success: true, action: "RESPONSE", response });
		} catch (error) {
			// The picture is kept.
			log.warn({ err: error }, "the vision model did not answer");
			return c.json({ success: false, message: `The vision model did not answer. ${IN_RESULT}` });
		}
	});

	app.all(`${PICTURE_PATHS.upload}/:ticket`, allow("POST"), async (c) => {
		const { incoming } = c.env;
		await limits.attempt(guard.addressOf(incoming));
		const found = pictures.callOf(c.req.param("ticket"));
		const call = found ?? (await rejectToken(incoming, "unknown or expired upload"));
		const { picture } = await receive(incoming, call, MAX_UPLOADS_PER_CALL, call);
		keep(call, picture);
		return c.json({ success: true });
	});
}

/** A picture's type by its first bytes, not by its name. */
function pictureOf(data: Buffer): Picture {
	if (data.length > 3 && data.readUIntBE(0, 3) === 0xffd8ff) {
		return { mimeType: "image/jpeg", data };
	}
	if (data.length > 8 && data.readBigUInt64BE() === 0x89504e470d0a1a0an) {
		return { mimeType: "image/png", data };
	}
	throw new GatewayError("media-type", "the file is neither a JPEG nor a PNG");
}

function unexpected(): GatewayError {
	return new GatewayError("unexpected", "no call in progress expects this picture");
}

/** Milliseconds for the whole answer: less than a device waits. */
const TIMEOUT = 20_000;

const LIMIT = { what: "the answer", maxBytes: 256 * 1024 };

/** Characters of the text for the device, whose memory is small. */
const MAX_TEXT = 2_000;

/** The first choice of a chat completion. */
const COMPLETION = z.object({
	choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

/**
 * Asks a vision model a question about a picture: any service with the Chat Completions API of OpenAI. Rejects with an Error that
 * does not contain the key.
 *
 * @internal exported for its test
 */
export async function askVisionModel(
	service: ModelService,
	question: string,
	{ mimeType, data }: Picture,
	timeout = TIMEOUT,
): Promise<string> {
	const image = { url: `data:${mimeType};base64,${data.toString("base64")}` };
	const content = [
		{ type: "text", text: question },
		{ type: "image_url", image_url: image },
	];
	const body = JSON.stringify({ model: service.model, messages: [{ role: "user", content }] });
	const answer = await post(service, "/chat/completions", body, AbortSignal.timeout(timeout), LIMIT);
	const { data: completion } = COMPLETION.safeParse(JSON.parse(answer.toString()));
	if (completion === undefined) {
		throw new Error("no text in the response: expected choices[0].message.content");
	}
	return completion.choices[0].message.content.slice(0, MAX_TEXT);
}

/** Bytes of a form without its file. */
const MAX_OTHER_BYTES = 16_384;

const LIMITS = {
	fields: 8,
	files: 1,
	parts: 9,
	fieldNameSize: 100,
	fieldSize: 8_192,
	headerPairs: 16,
	headerSize: 4_096,
};

/**
 * Reads a form (multipart/form-data, RFC 7578) from Node's stream. The server ends one that is too slow.
 *
 * Rejects with GatewayError: 413 if the file or the form is too large, as soon as that is known; 415 if the request is no
 * form; 400 if it is malformed or has no file.
 *
 * @internal exported for its test
 */
export async function readForm(request: IncomingMessage, maxFileBytes: number) {
	const parser = parserFor(request, maxFileBytes);
	const fields = new Map<string, string>();
	const chunks: Buffer[] = [];
	let hasFile = false;
	try {
		await new Promise<void>((resolve, reject) => {
			const malformed = (problem: string) => () => reject(new GatewayError("malformed", `the form ${problem}`));
			parser.on("field", (name, value, _nameTruncated, isTruncated) => {
				fields.set(name, value);
				if (isTruncated) {
					malformed(`has more than ${LIMITS.fieldSize} bytes in the field ${name}`)();
				}
			});
			parser.on("file", (_name, stream) => {
				hasFile = true;
				stream.on("data", (chunk: Buffer) => chunks.push(chunk));
				stream.on("limit", () => reject(tooLarge(maxFileBytes)));
				stream.on("error", malformed("is malformed"));
			});
			for (const event of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
				parser.on(event, malformed("has too many fields or files"));
			}
			parser.on("error", malformed("is malformed"));
			parser.on("finish", resolve);
			// Bytes that the parser skips count, too.
			let bytes = 0;
			request.on("data", (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes > maxFileBytes + MAX_OTHER_BYTES) {
					reject(tooLarge(maxFileBytes));
				}
			});
			request.once("close", () => {
				// The parser may still be busy with a request that is complete.
				if (!request.complete) {
					reject(new Error("the connection was lost"));
				}
			});
			request.pipe(parser);
		});
	} finally {
		request.unpipe(parser);
	}
	if (!hasFile) {
		throw new GatewayError("malformed", 'the form has no file: expected a field "file"');
	}
	/** `file` is the content of the field "file". */
	return { fields, file: Buffer.concat(chunks) };
}

/** @throws GatewayError if the request is no form, or says that it is too large */
function parserFor({ headers }: IncomingMessage, maxFileBytes: number): BusboyInstance {
	const { "content-type": type = "" } = headers;
	if (!/^multipart\/form-data *;/i.test(type)) {
		throw new GatewayError("media-type", "Content-Type: expected multipart/form-data");
	}
	if (headers["content-encoding"] !== undefined) {
		throw new GatewayError("media-type", "Content-Encoding: expected none");
	}
	if (Number(headers["content-length"] ?? 0) > maxFileBytes + MAX_OTHER_BYTES) {
		throw tooLarge(maxFileBytes);
	}
	try {
		return new Busboy({
			headers: { ...headers, "content-type": type },
			limits: { ...LIMITS, fileSize: maxFileBytes },
			isPartAFile: (name) => name === "file",
		});
	} catch (error) {
		throw new GatewayError("malformed", `Content-Type: ${(error as Error).message}`);
	}
}

function tooLarge(maxFileBytes: number): GatewayError {
	return new GatewayError("too-large", `picture too large (limit ${maxFileBytes} bytes, maxPictureBytes)`);
}
