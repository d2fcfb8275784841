import { base64Length, toBase64 } from "../../core/text/base64.js";
import { utf8Length } from "../../core/text/utf8.js";
import { Content } from "../content.js";
import { ErrorCode, invalidParams, notificationMessage, type Params, quotable, RpcError } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import type { McpSession } from "../mcp-session.js";
import { type Listed, listed } from "../paged-list.js";
import type { ToolCall } from "../tool-call.js";
import type { Completable, Completers } from "./completion.js";
import { type Feature, type FeatureResult, readText } from "./feature-server.js";
import { ListFeature } from "./list-feature.js";
import { matchTemplate, parseTemplate, type TemplateValues, type UriTemplate } from "./uri-template.js";

/** Hints for the client: https://modelcontextprotocol.io/specification/2025-11-25/server/resources#annotations */
export interface ResourceAnnotations {
	readonly audience?: readonly ("user" | "assistant")[];
	/** Importance from 0, optional, to 1, required. */
	readonly priority?: number;
	/** ISO 8601. */
	readonly lastModified?: string;
}

/** A resource's contents: text, bytes, or an object, which becomes JSON. A promise is excluded. */
export type ResourceData =
	| string
	| ArrayBuffer
	| (object & { readonly then?: never })
	| { readonly [member: string]: unknown; readonly then?: never };

/** A resource as its author writes it. */
export interface ResourceDefinition<Context, Uri extends string> {
	/** A URI such as "device://self/state"; or a template with variables, such as "log://lines/{count}". */
	readonly uri: Uri;
	readonly name: string;
	readonly title?: string;
	/** Description of the contents for the language model. */
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
const contentsJson = (
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
	const text = typeof data === "string" ? data : JSON.stringify(data);
	checkSize(utf8Length(text), maxBytes);
	return JSON.stringify({ uri, mimeType, text });
};

const checkSize = (size: number, most: number): void => {
	if (size > most) {
		throw new RpcError(ErrorCode.internalError, `Resource too large: ${size} bytes (limit ${most})`);
	}
};

/** A resource as a part of a message. */
export interface EmbeddedResource {
	readonly uri: string;
	readonly mimeType?: string;
	readonly data: ResourceData;
}

/**
 * A resource with its contents, in a tool's result or a prompt:
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#embedded-resources
 *
 * @example
 * return embeddedResource({ uri: "log://today", mimeType: "text/plain", data: lines.join("\n") });
 */
export const embeddedResource = ({ uri, mimeType, data }: EmbeddedResource): Content =>
	new Content(`{"type":"resource","resource":${contentsJson(uri, mimeType, data)}}`);

/** The largest resource that is read, as text or base64, in bytes. */
const MAX_BYTES = 8_000;

/** URIs that a session may subscribe to. */
const MAX_SUBSCRIPTIONS = 32;

/** Error code for an unknown resource up to 2025-11-25 (server/resources#error-handling). */
const RESOURCE_NOT_FOUND = -32002;

const MAX_URI_LENGTH = 1_024;

/** A constant, because XS copies a literal in a function at each use. */
const RESOURCE = "resource";

/** Resources, which a client can list, read and subscribe to (MCP 2025-11-25, server/resources). */
export class Resources<Context>
	extends ListFeature<Context, Resource<Context>>
	implements Feature<Context>, Completable
{
	readonly capabilities = { resources: { subscribe: true, listChanged: true } };
	readonly names = ["uri"];
	private readonly subscriptions = new Map<McpSession<unknown>, Set<string>>();

	/** @throws TypeError for two resources with the same URI */
	constructor(resources: readonly Resource<Context>[] = []) {
		super(RESOURCE, resources);
	}

	/** Notifies the subscribers of a URI that its contents have changed. */
	updated(uri: string): void {
		for (const [session, uris] of this.subscriptions) {
			if (uris.has(uri)) {
				session.notify(notificationMessage("notifications/resources/updated", { uri }));
			}
		}
	}

	get argumentNames(): readonly string[] {
		return this.items.flatMap(({ template }) => template?.variables ?? []);
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		switch (method) {
			case "resources/list":
				return this.page("resources", this.items.filter(isFixed), params, call);
			case "resources/templates/list":
				return this.page(
					"resourceTemplates",
					this.items.filter((each) => !isFixed(each)),
					params,
					call,
				);
			case "resources/read":
				return this.read(params, call);
			case "resources/subscribe":
				return this.subscribe(params, call.session);
			case "resources/unsubscribe": {
				const uri = readUri(params);
				this.subscriptions.get(call.session)?.delete(uri);
				return "{}";
			}
			default:
				return undefined;
		}
	}

	sessionClosed(session: McpSession<unknown>): void {
		this.subscriptions.delete(session);
	}

	private read(params: Params, call: ToolCall): FeatureResult {
		const uri = readUri(params);
		const { resource, variables } = this.match(uri, call.session);
		const data = resource.read(variables, (this.server as McpServer<Context>).context, call);
		const toResult = (value: ResourceData): string =>
			`{"contents":[${contentsJson(uri, resource.mimeType, value, MAX_BYTES)}]}`;
		return data instanceof Promise ? data.then(toResult) : toResult(data);
	}

	private subscribe(params: Params, session: McpSession<unknown>): string {
		const uri = readUri(params);
		this.match(uri, session);
		const uris = this.subscriptions.get(session) ?? new Set();
		if (uri.length > MAX_URI_LENGTH) {
			throw invalidParams(`uri: expected at most ${MAX_URI_LENGTH} characters`);
		}
		if (!uris.has(uri) && uris.size >= MAX_SUBSCRIPTIONS) {
			throw invalidParams(`Too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
		}
		this.subscriptions.set(session, uris.add(uri));
		return "{}";
	}

	/** @throws RpcError if no resource has that URI */
	private match(uri: string, { revision }: McpSession<unknown>) {
		for (const resource of this.items) {
			const { key, template } = resource;
			const variables = template === undefined ? key === uri && {} : matchTemplate(template, uri);
			if (variables) {
				return { resource, variables };
			}
		}
		const code = revision >= "2026-07-28" ? ErrorCode.invalidParams : RESOURCE_NOT_FOUND;
		throw new RpcError(code, "Resource not found", { uri: quotable(uri) });
	}
}

/** Whether a resource has one URI, and is no template. */
const isFixed = ({ template }: Pick<Resource<never>, "template">): boolean => template === undefined;

const readUri = (params: Params): string => readText(params, "uri", "the URI of a resource");
