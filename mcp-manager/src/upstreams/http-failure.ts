import type { SdkHttpError } from "@modelcontextprotocol/client";
import { ServerError, type ServerErrorCode } from "../core/errors.js";

/** Characters of a body that are quoted: some servers answer with whole pages. */
const MAX_BODY = 300;

/** Statuses with a specific meaning. In each case the request was not carried out. */
const CODES: Readonly<Record<number, ServerErrorCode>> = {
	401: "permission-denied",
	403: "permission-denied",
	429: "rate-limited",
};

/** The error for a request that a server over HTTP has refused: with the status and the beginning of the body. */
export function httpFailure(error: SdkHttpError): Error {
	const { status, statusText } = error;
	const { text } = error.data as { text?: string | null };
	const body = (text ?? "").replace(/\s+/g, " ").trim().slice(0, MAX_BODY);
	const message = [`HTTP ${status}${statusText && ` ${statusText}`}`, ...(body === "" ? [] : [body])].join(": ");
	const code = CODES[status];
	return code === undefined ? new Error(message, { cause: error }) : new ServerError(code, message, { cause: error });
}
