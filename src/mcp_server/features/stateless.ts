import { isObject } from "../../core/text/json.js";
import type { Client } from "../client.js";
import { type Answer, ErrorCode, invalidParams, type Params, type RequestId, RpcError } from "../json-rpc.js";
import type { ToolCall } from "../tool-call.js";
import type { Feature, FeatureResult } from "./feature-server.js";
import { type FeatureSession, STATELESS_REVISIONS } from "./feature-session.js";
import { ResumableRequest, SUBSCRIPTION_ID, subjectOf } from "./resumable-request.js";

/** Maximum number of calls that wait for their clients' answers. Beyond it the oldest is cancelled. */
const MAX_SUSPENDED = 4;

/** Milliseconds that a client has to answer. */
const TIMEOUT = 300_000;

/** Members that it reads in any request, and in `subscriptions/listen`. */
const NAMES: readonly string[] = Object.freeze("form inputResponses requestState".split(" "));
const LISTEN_NAMES: readonly string[] = Object.freeze(
	"notifications toolsListChanged promptsListChanged resourcesListChanged resourceSubscriptions".split(" "),
);

/** Serves MCP 2026-07-28: requests without a session, their questions to the client, and subscriptions. */
export class Stateless<Context> implements Feature<Context> {
	readonly capabilities = { experimental: { stateless: { supportedVersions: [...STATELESS_REVISIONS] } } };
	private suspended: readonly ResumableRequest<Context>[] = [];
	/** Resumed requests: their calls end with the connection of the repeated request. */
	private readonly resumed = new Set<ResumableRequest<Context>>();
	/** Whether a request `subscriptions/listen` is open. Only one, because a device has few connections for HTTP. */
	private isListening = false;
	private count = 0;

	get names(): readonly string[] {
		return [...this.callNames, ...LISTEN_NAMES];
	}

	get callNames(): readonly string[] {
		return [...NAMES, ...this.suspended.flatMap(({ names }) => names)];
	}

	answerStateless(
		session: FeatureSession<Context>,
		client: Client,
		id: RequestId,
		method: string,
		params: Params,
	): Answer {
		const { requestState } = params;
		if (requestState === undefined || requestState === null) {
			return new ResumableRequest(session, this, client, id, method, params).serve(id, params);
		}
		const request = this.suspended.find(({ state }) => state === requestState);
		const isSame =
			request?.connection.owner === session.owner && request.method === method && request.subject === subjectOf(params);
		if (!isSame) {
			const data = { reason: "invalid_request_state" };
			throw new RpcError(ErrorCode.invalidParams, "Invalid or expired requestState", data);
		}
		const answer = request.resume(session, id, params);
		this.resumed.add(request);
		return answer;
	}

	sessionClosed(session: FeatureSession<unknown>): void {
		for (const request of this.resumed) {
			if (request.connection === session) {
				request.cancel();
			}
		}
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		const { session } = call;
		return method === "subscriptions/listen" && session instanceof ResumableRequest
			? this.listen(params, call, session)
			: undefined;
	}

	/** Suspends a request until the client answers, and assigns its `state`. */
	suspend(request: ResumableRequest<Context>): void {
		const { server } = request;
		const [oldest] = this.suspended;
		if (oldest !== undefined && this.suspended.length >= MAX_SUSPENDED) {
			oldest.cancel();
			this.forget(oldest);
		}
		this.resumed.delete(request);
		this.count += 1;
		request.state = `${this.count}-${Math.random()}`;
		request.timeout = server.timer?.set(() => {
			this.forget(request);
			request.cancel();
		}, TIMEOUT);
		this.suspended = [...this.suspended, request];
		server.forgetNames();
	}

	/** Forgets a suspended request that resumes, or a request that has ended. */
	forget(request: ResumableRequest<Context>): void {
		request.server.timer?.clear(request.timeout);
		this.suspended = this.suspended.filter((each) => each !== request);
		this.resumed.delete(request);
	}

	private listen(params: Params, call: ToolCall, request: ResumableRequest<unknown>): Promise<string> {
		const { server } = request;
		if (this.isListening) {
			throw new RpcError(ErrorCode.tooManyCalls, "Too many subscriptions/listen requests (limit 1)");
		}
		const filter = readFilter(params, server.capabilities);
		const result = JSON.stringify({ _meta: { [SUBSCRIPTION_ID]: call.id } });
		subscribe((filter.resourceSubscriptions ?? []) as readonly string[], call, request);
		request.listen(filter);
		if (Object.keys(filter).length === 0) {
			request.stopListening();
			return Promise.resolve(result);
		}
		this.isListening = true;
		return new Promise((resolve) => {
			call.onCancel = () => {
				this.isListening = false;
				request.stopListening();
				resolve(result);
			};
		});
	}
}

/** @throws RpcError if one of the URIs is unknown: then none is subscribed */
const subscribe = (uris: readonly string[], call: ToolCall, request: ResumableRequest<unknown>): void => {
	try {
		for (const uri of uris) {
			void request.server.answerByFeature("resources/subscribe", { uri }, call);
		}
	} catch (error) {
		request.stopListening();
		throw error;
	}
};

/** The part of the filter that the server supports. @throws RpcError invalid params */
const readFilter = ({ notifications }: Params, { prompts, resources }: Readonly<Record<string, object>>): Params => {
	if (!isObject(notifications)) {
		throw invalidParams("notifications: expected an object");
	}
	const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications;
	const uris: unknown = resourceSubscriptions ?? [];
	if (!Array.isArray(uris) || uris.some((uri) => typeof uri !== "string")) {
		throw invalidParams("notifications.resourceSubscriptions: expected an array of strings");
	}
	return {
		...(toolsListChanged === true && { toolsListChanged }),
		...(promptsListChanged === true && prompts && { promptsListChanged }),
		...(resourcesListChanged === true && resources && { resourcesListChanged }),
		...(uris.length > 0 && resources && { resourceSubscriptions: uris }),
	};
};
