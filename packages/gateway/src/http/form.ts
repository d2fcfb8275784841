import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { HttpError } from "./http-error.js";

/** A form with one file. */
export interface Form {
	readonly fields: ReadonlyMap<string, string>;
	/** The content of the field "file". */
	readonly file: Buffer;
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
 * Rejects with HttpError: 413 if the file or the form is too large, as soon as that is known; 415 if the request is no
 * form; 400 if it is malformed or has no file.
 */
export async function readForm(request: IncomingMessage, maxFileBytes: number): Promise<Form> {
	const parser = parserFor(request, maxFileBytes);
	const fields = new Map<string, string>();
	const chunks: Buffer[] = [];
	let hasFile = false;
	try {
		await new Promise<void>((resolve, reject) => {
			const malformed = (problem: string) => () => reject(new HttpError(400, "malformed", `the form ${problem}`));
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
			limitBytes(request, maxFileBytes, reject);
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
		throw new HttpError(400, "malformed", 'the form has no file: expected a field "file"');
	}
	return { fields, file: Buffer.concat(chunks) };
}

/** @throws HttpError if the request is no form, or says that it is too large */
function parserFor({ headers }: IncomingMessage, maxFileBytes: number): BusboyInstance {
	const { "content-type": type = "" } = headers;
	if (!/^multipart\/form-data *;/i.test(type)) {
		throw new HttpError(415, "malformed", "Content-Type: expected multipart/form-data");
	}
	if (headers["content-encoding"] !== undefined) {
		throw new HttpError(415, "malformed", "Content-Encoding: expected none");
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
		throw new HttpError(400, "malformed", `Content-Type: ${(error as Error).message}`);
	}
}

/** Bytes that the parser skips count, too. */
function limitBytes(request: IncomingMessage, maxFileBytes: number, reject: (error: Error) => void): void {
	let bytes = 0;
	request.on("data", (chunk: Buffer) => {
		bytes += chunk.length;
		if (bytes > maxFileBytes + MAX_OTHER_BYTES) {
			reject(tooLarge(maxFileBytes));
		}
	});
}

function tooLarge(maxFileBytes: number): HttpError {
	return new HttpError(413, "too-large", `picture too large (limit ${maxFileBytes} bytes, maxPictureBytes)`);
}
