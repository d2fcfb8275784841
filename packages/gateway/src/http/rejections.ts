import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { StoreError } from "xs-mcp-manager/core";
import type { RunningGateway } from "../gateway.js";
import { GatewayError, isForClient } from "../gateway-error.js";
import { answerRpc, type HttpEnv } from "./route.js";

/** JSON, or HTML. */
type Body = object | string | Promise<string>;

/** Milliseconds without a byte after which the rest of a rejected request is not waited for. */
const DRAIN_TIME = 1_000;

/** Bytes of a rejected request that are read and dropped. */
const MAX_DRAINED = 16 * 1024 * 1024;

/** A path that ends with a secret. */
const TICKET = /^(\/vision\/upload)\/.*/;

/** Makes the body for a device, in the words of its family. */
export const deviceBody = ({ message }: GatewayError): object => ({ success: false, message });

/** Makes the answer to a request of OAuth: RFC 6749 section 5.2. */
export const oauthBody = ({ effect, message }: GatewayError): object => ({
	error: effect.oauth ?? "invalid_request",
	error_description: message,
});

/** Answers to requests that are rejected or fail. */
export type RejectionReport = ReturnType<typeof makeRejectionReport>;

/**
 * Answers, logs and counts requests that are rejected or fail.
 *
 * @param addressOf returns the network address of a request
 */
export function makeRejectionReport(gateway: RunningGateway, addressOf: (request: IncomingMessage) => string) {
	const { log, limitedLog, metrics } = gateway;
	/** A connection that never made a request: too slow, or not HTTP. */
	const connection = (reason: "slow" | "malformed", where: object): void => {
		metrics.rejectedRequests.inc({ reason });
		limitedLog.warn(reason, where, reason === "slow" ? "rejected: too slow" : "rejected: not HTTP");
	};

	/** Reports a request that is rejected, and reads the rest of it. Returns undefined if it cannot be answered any more. */
	const reject = async (
		error: Error,
		path: string,
		{ incoming, outgoing }: HttpBindings,
	): Promise<GatewayError | undefined> => {
		const failure = error instanceof StoreError ? unsaved(error.message, error.cause) : error;
		report(failure, path, incoming);
		if (outgoing.headersSent) {
			outgoing.destroy();
			return undefined;
		}
		await drain(incoming);
		if (!incoming.complete) {
			outgoing.setHeader("Connection", "close");
		}
		return toClient(failure);
	};

	const report = (error: Error, path: string, request: IncomingMessage): void => {
		const where = { address: addressOf(request), method: request.method, path: path.replace(TICKET, "$1/…") };
		if (isForClient(error)) {
			const { code, status, message, effect } = error;
			const { reason } = effect;
			if (reason !== undefined) {
				metrics.rejectedRequests.inc({ reason });
				const text = code === "unsaved" ? message : `rejected: ${message}`;
				limitedLog.warn(reason, { ...where, status, ...error.log }, text);
			}
		} else if (request.destroyed && !request.complete) {
			log.debug(where, "request aborted by the client");
		} else {
			log.error({ ...where, err: error }, "request failed");
		}
	};

	return {
		answerMalformed(error: Error): Response {
			connection("malformed", { err: error });
			return Response.json(new GatewayError("malformed", "the request's URL or Host is malformed").response, {
				status: 400,
			});
		},
		connection,
		/**
		 * Answers a request whose route or middleware threw.
		 *
		 * @param bodyOf JSON, or the HTML of a page. Default: an error of JSON-RPC
		 */
		async answer(
			error: Error,
			c: Context<HttpEnv>,
			bodyOf: (failure: GatewayError) => Body = ({ response }) => response,
		): Promise<Response> {
			const failure = await reject(error, c.req.path, c.env);
			if (failure === undefined) {
				return RESPONSE_ALREADY_SENT;
			}
			const [status, body] = [failure.status as ContentfulStatusCode, await bodyOf(failure)];
			return typeof body === "object" ? c.json(body, status, { ...failure.headers }) : c.html(body, status);
		},
		/** Answers a request of MCP that is rejected or has failed. */
		async answerMcp(error: Error, http: HttpBindings): Promise<void> {
			const failure = await reject(error, (http.incoming.url ?? "").replace(/\?.*/s, ""), http);
			if (failure !== undefined) {
				answerRpc(http.outgoing, failure);
			}
		},
	};
}

/**
 * Returns the error that the client gets. The log has the details of an internal one, and the path and the cure of one that was not
 * saved.
 */
export function toClient(error: Error): GatewayError {
	if (!isForClient(error)) {
		return new GatewayError("failed", "internal error");
	}
	const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
	return error.code === "unsaved" && typeof code === "string" ? unsaved(`cannot be saved: ${code}`) : error;
}

/** @param cause error of the file system, or that of its path */
function unsaved(message: string, cause?: unknown): GatewayError {
	return new GatewayError("unsaved", message, { cause: cause instanceof GatewayError ? cause.cause : cause });
}

/** Reads and drops the rest of a request: a client that still writes would lose the answer. */
async function drain(request: IncomingMessage): Promise<void> {
	if (request.complete || request.destroyed) {
		return;
	}
	await new Promise<void>((resolve) => {
		const timer = setTimeout(resolve, DRAIN_TIME);
		const stop = (): void => {
			clearTimeout(timer);
			resolve();
		};
		let bytes = 0;
		request.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > MAX_DRAINED) {
				stop();
			} else {
				timer.refresh();
			}
		});
		request.once("end", stop);
		request.once("close", stop);
	});
}
