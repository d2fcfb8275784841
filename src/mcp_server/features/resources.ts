import { ErrorCode, type LongResult, notificationMessage, quotable, RpcError, resultOverhead } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import { PagedList } from "../paged-list.js";
import { type Params, readCursor } from "../params.js";
import type { CallSession, ToolCall } from "../tool-call.js";
import type { Completable, Completers } from "./completion.js";
import type { FeatureResult } from "./feature-session.js";
import { readText } from "./read-param.js";
import { contentsJson, type Resource, type ResourceData } from "./resource.js";
import type { Feature } from "./server-feature.js";
import { matchTemplate } from "./uri-template.js";

/** The resources, and limits of them. */
export interface ResourcesOptions<Context> {
	readonly resources?: readonly Resource<Context>[];
	/** The largest resource, as text or base64, in bytes. Default 8000. */
	readonly maxBytes?: number;
	/** URIs that a session may subscribe to. Default 32. */
	readonly maxSubscriptions?: number;
}

/**
 * The error code for an unknown resource up to 2025-11-25:
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling
 */
const RESOURCE_NOT_FOUND = -32002;

const MAX_URI_LENGTH = 1_024;

interface Found<Context> {
	readonly resource: Resource<Context>;
	readonly variables: Readonly<Record<string, string>>;
}

/**
 * Resources, which a client can list, read and subscribe to.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
export class Resources<Context> implements Feature<Context>, Completable {
	readonly capabilities = { resources: { subscribe: true, listChanged: true } };
	readonly names = ["uri"];
	private readonly resources: Resource<Context>[] = [];
	private readonly maxBytes: number;
	private readonly maxSubscriptions: number;
	private readonly subscriptions = new Map<CallSession, string[]>();
	private server: McpServer<Context> | undefined;

	/** @throws TypeError for two resources with the same URI */
	constructor({ resources = [], maxBytes = 8_000, maxSubscriptions = 32 }: ResourcesOptions<Context> = {}) {
		this.maxBytes = maxBytes;
		this.maxSubscriptions = maxSubscriptions;
		for (const resource of resources) {
			this.add(resource);
		}
	}

	attach(server: McpServer<Context>): void {
		this.server = server;
	}

	/** @throws TypeError if the URI is already registered */
	add(resource: Resource<Context>): void {
		if (this.resources.some(({ key }) => key === resource.key)) {
			throw new TypeError(`resource ${resource.key} is already registered`);
		}
		this.resources.push(resource);
		this.server?.changed("notifications/resources/list_changed");
	}

	/**
	 * @param uri the resource's URI or template
	 * @returns whether the resource existed
	 */
	remove(uri: string): boolean {
		const at = this.resources.findIndex(({ key }) => key === uri);
		if (at < 0) {
			return false;
		}
		this.resources.splice(at, 1);
		this.server?.changed("notifications/resources/list_changed");
		return true;
	}

	/** Notifies the subscribers of a URI that its contents have changed. */
	updated(uri: string): void {
		for (const [session, uris] of this.subscriptions) {
			if (uris.includes(uri)) {
				session.notify(notificationMessage("notifications/resources/updated", { uri }));
			}
		}
	}

	get argumentNames(): readonly string[] {
		return this.resources.flatMap(({ template }) => template?.variables ?? []);
	}

	completersOf(uriTemplate: string): Completers | undefined {
		return this.resources.find(({ key }) => key === uriTemplate)?.complete;
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		switch (method) {
			case "resources/list":
				return this.list("resources", false, params, call);
			case "resources/templates/list":
				return this.list("resourceTemplates", true, params, call);
			case "resources/read":
				return this.read(params, call);
			case "resources/subscribe":
				return this.subscribe(params, call.session);
			case "resources/unsubscribe":
				return this.unsubscribe(params, call.session);
			default:
				return undefined;
		}
	}

	sessionClosed(session: CallSession): void {
		this.subscriptions.delete(session);
	}

	private list(member: string, templates: boolean, params: Params, { id, session }: ToolCall): LongResult {
		const items = this.resources.filter(({ template }) => (template !== undefined) === templates);
		return new PagedList(member, items).page(readCursor(params), session.pageBytes - resultOverhead(id));
	}

	private read(params: Params, call: ToolCall): FeatureResult {
		const uri = readUri(params);
		const { resource, variables } = this.find(uri, call.session);
		const data = resource.read(variables, (this.server as McpServer<Context>).context, call);
		const toResult = (value: ResourceData): string =>
			`{"contents":[${contentsJson(uri, resource.mimeType, value, this.maxBytes)}]}`;
		return data instanceof Promise ? data.then(toResult) : toResult(data);
	}

	private subscribe(params: Params, session: CallSession): string {
		const uri = readUri(params);
		this.find(uri, session);
		const uris = this.subscriptions.get(session) ?? [];
		if (uri.length > MAX_URI_LENGTH) {
			throw new RpcError(ErrorCode.invalidParams, `uri: expected at most ${MAX_URI_LENGTH} characters`);
		}
		if (!uris.includes(uri)) {
			if (uris.length >= this.maxSubscriptions) {
				throw new RpcError(ErrorCode.invalidParams, `Too many subscriptions (limit ${this.maxSubscriptions})`);
			}
			this.subscriptions.set(session, [...uris, uri]);
		}
		return "{}";
	}

	private unsubscribe(params: Params, session: CallSession): string {
		const uri = readUri(params);
		const uris = this.subscriptions.get(session) ?? [];
		this.subscriptions.set(
			session,
			uris.filter((other) => other !== uri),
		);
		return "{}";
	}

	/** @throws RpcError if no resource has that URI */
	private find(uri: string, { revision }: CallSession): Found<Context> {
		for (const resource of this.resources) {
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

const readUri = (params: Params): string => readText(params, "uri", "the URI of a resource");
