import { base64Length, toBase64 } from "../../text/base64.js";
import { utf8Length } from "../../text/utf8.js";
import { ErrorCode, RpcError } from "../json-rpc.js";
import { type Listed, listed } from "../paged-list.js";
import type { ToolCall } from "../tool-call.js";
import type { Completers } from "./completion.js";
import { parseTemplate, type TemplateValues, type UriTemplate } from "./uri-template.js";

/** Hints for the client: https://modelcontextprotocol.io/specification/2025-11-25/server/resources#annotations */
export interface ResourceAnnotations {
	readonly audience?: readonly ("user" | "assistant")[];
	/** From 0, optional, to 1, required. */
	readonly priority?: number;
	/** ISO 8601. */
	readonly lastModified?: string;
}

/** Bytes already in base64. */
export class Base64 {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

/** A resource's contents: text, bytes, or an object, which becomes JSON. A promise is excluded. */
export type ResourceData =
	| string
	| ArrayBuffer
	| Base64
	| (object & { readonly then?: never })
	| { readonly [member: string]: unknown; readonly then?: never };

/** A resource as its author writes it. */
export interface ResourceDefinition<Context, Uri extends string> {
	/** A URI such as "device://self/state"; or a template with variables, such as "log://lines/{count}". */
	readonly uri: Uri;
	readonly name: string;
	readonly title?: string;
	/** For the language model: the resource's contents. */
	readonly description?: string;
	/** A media type: "text/plain", "application/json", "image/jpeg". */
	readonly mimeType?: string;
	readonly annotations?: ResourceAnnotations;
	/** Bytes, if known in advance. */
	readonly size?: number;
	/** Suggested values for a template's variable: see the feature `Completion`. */
	readonly complete?: Completers;
	/** Reads it, possibly asynchronously. An exception reaches the client as a JSON-RPC error. */
	read(variables: TemplateValues<Uri>, context: Context, call: ToolCall): ResourceData | Promise<ResourceData>;
}

/** A resource as the server stores it: plain data. Its key is its URI, or its template. */
export interface Resource<Context> extends Listed {
	readonly mimeType: string | undefined;
	readonly template: UriTemplate | undefined;
	readonly complete: Completers;
	/** Reads it. The template's variables have been decoded. */
	read(variables: unknown, context: Context, call: ToolCall): ResourceData | Promise<ResourceData>;
}

/**
 * Makes a resource from its definition.
 *
 * @throws TypeError if the URI has no scheme, or is a template that {@link parseTemplate} does not support
 */
export const createResource = <Context, const Uri extends string>(
	definition: ResourceDefinition<Context, Uri>,
): Resource<Context> => {
	const { uri, read, complete = {}, ...members } = definition;
	if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri)) {
		throw new TypeError(`resource ${JSON.stringify(uri)}: expected a URI, such as device://self/state`);
	}
	const template = parseTemplate(uri);
	const address = template === undefined ? { uri } : { uriTemplate: uri };
	return {
		...listed(uri, { ...address, ...members }),
		mimeType: definition.mimeType,
		template,
		complete,
		read: read as Resource<Context>["read"],
	};
};

/**
 * An item of `contents`, as JSON: https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-contents
 *
 * @param maxBytes the longest text, or base64 of the bytes
 * @throws RpcError internal error, if it is longer
 */
export const contentsJson = (
	uri: string,
	mimeType: string | undefined,
	data: ResourceData,
	maxBytes = Number.POSITIVE_INFINITY,
): string => {
	// Checked before encoding, which takes more than twice the memory.
	if (data instanceof ArrayBuffer) {
		checkSize(base64Length(data.byteLength), maxBytes);
		return JSON.stringify({ uri, mimeType, blob: toBase64(data) });
	}
	if (data instanceof Base64) {
		checkSize(data.text.length, maxBytes);
		return JSON.stringify({ uri, mimeType, blob: data.text });
	}
	const text = typeof data === "string" ? data : JSON.stringify(data);
	checkSize(utf8Length(text), maxBytes);
	return JSON.stringify({ uri, mimeType, text });
};

const checkSize = (size: number, most: number): void => {
	if (size > most) {
		throw new RpcError(ErrorCode.internalError, `Resource too large: ${size} bytes (limit ${most})`);
	}
};
