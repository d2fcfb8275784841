import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import type { ServerIdentity } from "xs-mcp-manager/core";
import { deviceIdOf } from "../../config/device-id.js";
import { readForm } from "../../http/form.js";
import { HttpError } from "../../http/http-error.js";
import type { RequestLimits } from "../../http/limits.js";
import type { HttpEnv, Route } from "../../http/route.js";
import type { Logger } from "../../log/log.js";
import type { ModelService } from "../../net/model-service.js";
import type { Picture, PictureCall, PictureSession, Pictures } from "./pictures.js";
import { askVisionModel } from "./vision-model.js";

export interface PictureRoutesOptions {
	readonly pictures: Pictures;
	readonly limits: RequestLimits;
	/** The network address of a request. */
	readonly addressOf: (request: IncomingMessage) => string;
	readonly maxPictureBytes: number;
	/** A model that also looks at the pictures. Default: none. */
	readonly visionModel?: ModelService | undefined;
	readonly log: Logger;
}

/** Most pictures received at the same time. */
const MAX_UPLOADS = 32;

/** Most of them per call: a device may retry, but not block all others. */
const MAX_UPLOADS_PER_CALL = 2;

/** The header in which a device names the request of the call. */
const REQUEST_ID = "Mcp-Request-Id";

/** The answer to the device, and so to the client, without a vision model. */
const IN_RESULT = "The picture is in the result of this call.";

/** The routes at which devices upload the pictures of calls in progress. */
export class PictureRoutes {
	readonly #options: PictureRoutesOptions;
	#uploads = 0;
	/** Uploads in progress, by session or by the call of a ticket. */
	readonly #uploadsOf = new Map<PictureSession | PictureCall, number>();

	constructor(options: PictureRoutesOptions) {
		this.#options = options;
	}

	/**
	 * `POST /vision/explain`: a question and a picture, with the token that the device got in `initialize`. The header names the
	 * request of the call; without it, the question tells which call is meant.
	 */
	readonly explain: Route = async (c) => {
		const session = await this.#authenticate(c.env.incoming);
		const id = c.req.header(REQUEST_ID);
		const named = id === undefined ? undefined : this.#options.pictures.callOfRequest(session, id);
		if (session.calls.size === 0 || (id !== undefined && named === undefined)) {
			throw unexpected();
		}
		const [only, ...others] = session.calls;
		const limit = session.calls.size * MAX_UPLOADS_PER_CALL;
		const { question, picture } = await this.#limited(session, limit, () =>
			this.#receive(c, named ?? (others.length === 0 ? only : undefined)),
		);
		this.#keep(named ?? this.#options.pictures.callFor(session, question), picture);
		return c.json(await this.#answer(question, picture));
	};

	/** `POST /vision/upload/TICKET`: a picture for the call that has this ticket. */
	readonly upload: Route = async (c) => {
		await this.#options.limits.attempt(this.#options.addressOf(c.env.incoming));
		const call =
			this.#options.pictures.callOf(c.req.param("ticket") ?? "") ??
			(await this.#wrongToken(c.env.incoming, "unknown or expired upload"));
		const { picture } = await this.#limited(call, MAX_UPLOADS_PER_CALL, () => this.#receive(c, call));
		this.#keep(call, picture);
		return c.json({ success: true });
	};

	/** Rejects with HttpError: 401 if the token is wrong or another device's, 429 after too many. */
	async #authenticate(request: IncomingMessage): Promise<PictureSession> {
		const { limits, addressOf, pictures } = this.#options;
		const secret = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
		const session = pictures.sessionOf(secret ?? "");
		if (session === undefined) {
			await limits.attempt(addressOf(request));
			return await this.#wrongToken(request, "unknown bearer token");
		}
		await limits.requestWithToken(`of the device ${session.identity.id}`);
		return isFrom(request, session.identity)
			? session
			: await this.#wrongToken(request, "the token belongs to another device");
	}

	async #wrongToken(request: IncomingMessage, problem: string): Promise<never> {
		await this.#options.limits.wrongToken(this.#options.addressOf(request));
		throw new HttpError(401, "token", problem);
	}

	/** @param call notified if the picture is rejected; undefined if its call is not known yet */
	async #receive(c: Context<HttpEnv>, call: PictureCall | undefined): Promise<{ question: string; picture: Picture }> {
		if (this.#uploads >= MAX_UPLOADS) {
			throw tooMany(MAX_UPLOADS);
		}
		this.#uploads += 1;
		try {
			const { fields, file } = await readForm(c.env.incoming, this.#options.maxPictureBytes);
			return { question: fields.get("question") ?? "", picture: pictureOf(file) };
		} catch (error) {
			if (call !== undefined && error instanceof HttpError) {
				call.problem = error.message;
			}
			throw error;
		} finally {
			this.#uploads -= 1;
		}
	}

	/** Rejects with HttpError (503) if too many uploads of the device are in progress. */
	async #limited<T>(of: PictureSession | PictureCall, limit: number, receive: () => Promise<T>): Promise<T> {
		const uploads = this.#uploadsOf.get(of) ?? 0;
		if (uploads >= limit) {
			throw tooMany(limit);
		}
		this.#uploadsOf.set(of, uploads + 1);
		try {
			return await receive();
		} finally {
			const others = (this.#uploadsOf.get(of) ?? 1) - 1;
			if (others > 0) {
				this.#uploadsOf.set(of, others);
			} else {
				this.#uploadsOf.delete(of);
			}
		}
	}

	#keep(call: PictureCall | undefined, picture: Picture): void {
		if (call === undefined || !this.#options.pictures.keep(call, picture)) {
			throw unexpected();
		}
	}

	/** The family's response format. The picture is kept if the model fails. */
	async #answer(question: string, picture: Picture): Promise<object> {
		const { visionModel, log } = this.#options;
		if (visionModel === undefined) {
			return { success: true, action: "RESPONSE", response: IN_RESULT };
		}
		try {
			return { success: true, action: "RESPONSE", response: await askVisionModel(visionModel, question, picture) };
		} catch (error) {
			log.warn({ err: error }, "the vision model did not answer");
			return { success: false, message: `The vision model did not answer. ${IN_RESULT}` };
		}
	}
}

/** A picture's type by its first bytes, not by its name. */
function pictureOf(data: Buffer): Picture {
	if (data.length > 3 && data.readUIntBE(0, 3) === 0xffd8ff) {
		return { mimeType: "image/jpeg", data };
	}
	if (data.length > 8 && data.readBigUInt64BE() === 0x89504e470d0a1a0an) {
		return { mimeType: "image/png", data };
	}
	throw new HttpError(415, "malformed", "the file is neither a JPEG nor a PNG");
}

/** Over MQTT, a device's id is its MQTT client id, which its headers do not contain. */
function isFrom({ headers }: IncomingMessage, { id, clientId, transport }: ServerIdentity): boolean {
	const { "device-id": device = id, "client-id": client = clientId } = headers;
	return transport !== "websocket" || (deviceIdOf(`${device}`) === id && (clientId === "" || client === clientId));
}

function tooMany(limit: number): HttpError {
	return new HttpError(503, "busy", `too many uploads (limit ${limit})`, { "Retry-After": "1" });
}

function unexpected(): HttpError {
	return new HttpError(409, "unexpected", "no call in progress expects this picture");
}
