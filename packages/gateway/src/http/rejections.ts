import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { SERVER_ERROR, StoreError } from "xs-mcp-manager/core";
import { UnsavedError } from "../config/state-files.js";
import type { RunningGateway } from "../gateway.js";
import { type HttpEnv, HttpError, jsonRpcError } from "./route.js";

/** JSON, or HTML. */
type Body = object | string | Promise<string>;

export type Failure = HttpError | typeof FAILURE;

/** The response to an internal error. The log has the details. */
const FAILURE = { status: 500, reason: "failed", message: "internal error", headers: {} } as const;

/** Milliseconds without a byte after which the rest of a rejected request is not waited for. */
const DRAIN_TIME = 1_000;

/** Bytes of a rejected request that are read and dropped. */
const MAX_DRAINED = 16 * 1024 * 1024;

/** A path that ends with a secret. */
const TICKET = /^(\/vision\/upload)\/.*/;

function jsonRpcBody({ reason, message }: Failure): object {
	return jsonRpcError(reason === "not-json" ? ProtocolErrorCode.ParseError : SERVER_ERROR, message);
}

/** Makes the body for a device, in the words of its family. */
export const deviceBody = ({ message }: Failure): object => ({ success: false, message });

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
	): Promise<Failure | undefined> => {
		report(error, path, incoming);
		if (outgoing.headersSent) {
			outgoing.destroy();
			return undefined;
		}
		await drain(incoming);
		if (!incoming.complete) {
			outgoing.setHeader("Connection", "close");
		}
		if (error instanceof StoreError || error instanceof UnsavedError) {
			const { code } = (error instanceof UnsavedError ? error : (error.cause ?? {})) as NodeJS.ErrnoException;
			// The log has the path and the cure: strangers need neither.
			return new HttpError(503, "busy", typeof code === "string" ? `cannot be saved: ${code}` : error.message);
		}
		return error instanceof HttpError ? error : FAILURE;
	};

	const report = (error: Error, path: string, request: IncomingMessage): void => {
		const where = { address: addressOf(request), method: request.method, path: path.replace(TICKET, "$1/…") };
		if (error instanceof HttpError) {
			metrics.rejectedRequests.inc({ reason: error.reason });
			limitedLog.warn(error.reason, { ...where, status: error.status, ...error.details }, `rejected: ${error.message}`);
		} else if (error instanceof UnsavedError || error instanceof StoreError) {
			metrics.rejectedRequests.inc({ reason: "busy" });
			limitedLog.warn("busy", { ...where, status: 503 }, error.message);
		} else if (request.destroyed && !request.complete) {
			log.debug(where, "request aborted by the client");
		} else {
			log.error({ ...where, err: error }, "request failed");
		}
	};

	return {
		answerMalformed(error: Error): Response {
			connection("malformed", { err: error });
			return Response.json(jsonRpcError(SERVER_ERROR, "the request's URL or Host is malformed"), { status: 400 });
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
			bodyOf: (failure: Failure) => Body = jsonRpcBody,
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
				http.outgoing.writeHead(failure.status, { ...failure.headers, "Content-Type": "application/json" });
				http.outgoing.end(JSON.stringify(jsonRpcBody(failure)));
			}
		},
	};
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
