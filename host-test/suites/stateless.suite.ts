import type { Feature } from "../../src/mcp_server/features/feature-server.js";
import { Logging, log } from "../../src/mcp_server/features/logging.js";
import { Prompts } from "../../src/mcp_server/features/prompts.js";
import { createResource, Resources } from "../../src/mcp_server/features/resources.js";
import {
	CAPABILITIES,
	LOG_LEVEL,
	meta,
	numbered,
	statelessClient,
	tool,
	VERSION,
	type Wire,
} from "../doubles/client.js";
import { equal, given, matches, settled, suite } from "../harness.js";

const reporter = tool("t", (_args, _context, call) => {
	log(call, "info", "running");
	call.progress(1);
	return { client: call.client.name ?? "?", revision: call.session.revision };
});

const resource = createResource<undefined, "test://a">({ uri: "test://a", name: "a", read: () => "A" });

const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

const reporting = () => statelessClient({ tools: [reporter] });

export default suite("stateless requests of MCP 2026-07-28", {
	"a device that takes them says so in the answer to initialize": given(statelessClient, ({ client }) => {
		equal(client.initialize("2025-11-25").result.capabilities, {
			tools: { listChanged: true },
			experimental: { stateless: { supportedVersions: ["2026-07-28"] } },
		});
	}),
	async "server/discover tells versions, capabilities and the server's name"() {
		const { ask } = statelessClient({ features: [new Logging()] });
		equal((await ask("server/discover")).result, {
			resultType: "complete",
			ttlMs: 0,
			cacheScope: "private",
			supportedVersions: ["2026-07-28"],
			capabilities: { tools: { listChanged: true }, logging: {} },
			_meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.2.3" } },
		});
	},
	"a request without a session is answered as its own _meta says": given(reporting, async ({ call }) => {
		const info = { "io.modelcontextprotocol/clientInfo": { name: "ann", version: "1" } };
		const { result } = await call("t", {}, meta({}, info));
		equal([result.resultType, result.structuredContent], ["complete", { client: "ann", revision: "2026-07-28" }]);
	}),
	"a session on the same connection keeps its revision and client": given(reporting, async ({ client, call }) => {
		client.initialize("2025-06-18");
		await call("t");
		const { result } = client.call("t");
		equal([result.resultType, result.structuredContent], [undefined, { client: "tester", revision: "2025-06-18" }]);
	}),
	async "a version that the device does not speak is rejected with those that it does"() {
		const { ask } = statelessClient();
		const { error } = await ask("tools/list", {}, meta({}, { [VERSION]: "v999" }));
		equal([error.code, error.data], [-32022, { supported: ["2026-07-28"], requested: "v999" }]);
	},
	"a request that lacks a member of _meta is rejected by its name": given(statelessClient, async ({ ask }) => {
		const noVersion = await ask("server/discover", {}, { [CAPABILITIES]: {} });
		equal(noVersion.error.code, -32602);
		matches(noVersion.error.message, /^_meta\.io\.modelcontextprotocol\/protocolVersion: expected/);
		const noCapabilities = await ask("tools/list", {}, { [VERSION]: "2026-07-28" });
		equal(noCapabilities.error.code, -32602);
		matches(noCapabilities.error.message, /^_meta\.io\.modelcontextprotocol\/clientCapabilities: expected/);
	}),
	async "methods that 2026-07-28 removed are not found"() {
		const { ask } = statelessClient({ features: [new Logging(), new Resources<undefined>()] });
		for (const method of [
			"initialize",
			"ping",
			"logging/setLevel",
			"resources/subscribe",
			"resources/unsubscribe",
			"unknown/method",
		]) {
			equal((await ask(method)).error.code, -32601, method);
		}
	},
	async "lists and reads carry hints for caches, and calls do not"() {
		const { ask, call } = statelessClient({
			tools: [reporter],
			features: [new Resources<undefined>([resource])],
		});
		const hints = async (method: string, params?: object) => {
			const { resultType, ttlMs, cacheScope } = (await ask(method, params)).result;
			return [resultType, ttlMs, cacheScope];
		};
		for (const method of ["tools/list", "resources/list", "resources/templates/list"]) {
			equal(await hints(method), ["complete", 0, "private"], method);
		}
		equal(await hints("resources/read", { uri: "test://a" }), ["complete", 0, "private"]);
		equal((await call("t")).result.ttlMs, undefined);
	},
	async "a page of a list is no longer than a session's"() {
		const { client, ask } = statelessClient({ tools: numbered(40, "x".repeat(200)) });
		const answer = await ask("tools/list");
		equal(JSON.stringify(answer).length <= client.session.pageBytes, true);
		equal(answer.result.nextCursor.startsWith("common."), true);
	},
	async "an unknown resource is an invalid param"() {
		const { ask } = statelessClient({ features: [new Resources<undefined>([resource])] });
		const { error } = await ask("resources/read", { uri: "test://b" });
		equal([error.code, error.data], [-32602, { uri: "test://b" }]);
	},
	async "log messages are sent from the level on that the request names, else none"() {
		const { send, lastId } = statelessClient({ tools: [reporter], features: [new Logging()] });
		const logged = async (more: object) =>
			(await send("tools/call", { name: "t" }, meta({}, more))).filter(
				({ method }) => method === "notifications/message",
			);
		equal(await logged({}), []);
		equal(await logged({ [LOG_LEVEL]: "error" }), []);
		const [message] = await logged({ [LOG_LEVEL]: "info" });
		equal(message.params, { level: "info", data: "running", _meta: { "xs-mcp/requestId": lastId() } });
	},
	"a report of progress names the request, too": given(reporting, async ({ send, lastId }) => {
		const [report] = await send("tools/call", { name: "t" }, meta({}, { progressToken: "p" }));
		equal(report.params, { progressToken: "p", progress: 1, _meta: { "xs-mcp/requestId": lastId() } });
	}),
	async "subscriptions/listen is acknowledged, and tells of what its filter asks for, no more"() {
		const resources = new Resources<undefined>([resource]);
		const { client, send, lastId } = statelessClient({ tools: [reporter], features: [resources] });
		const notifications = { promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["test://a"] };
		const [acknowledged, ...others] = await send("subscriptions/listen", { notifications });
		const _meta = { [SUBSCRIPTION_ID]: lastId() };
		equal(others, []);
		equal(acknowledged.method, "notifications/subscriptions/acknowledged");
		equal(acknowledged.params, {
			notifications: { resourcesListChanged: true, resourceSubscriptions: ["test://a"] },
			_meta,
		});
		client.server.tools.remove("t");
		resources.updated("test://a");
		resources.remove("test://a");
		const tagged = client.heard().filter(({ params }) => params?._meta);
		const told = tagged.map(({ method, params }) => [method, params]);
		equal(told, [
			["notifications/resources/updated", { uri: "test://a", _meta }],
			["notifications/resources/list_changed", { _meta }],
		]);
	},
	"subscriptions/listen ends when it is cancelled": given(reporting, async ({ client, send, lastId }) => {
		await send("subscriptions/listen", { notifications: { toolsListChanged: true } });
		client.cancel(lastId());
		await settled();
		client.server.tools.remove("t");
		const params = client.heard().map(({ params }) => params);
		equal(params, [undefined]);
	}),
	async "subscriptions/listen with an unknown resource subscribes to none of the others"() {
		const resources = new Resources<undefined>([resource]);
		const { client, ask } = statelessClient({ features: [resources] });
		const { error } = await ask("subscriptions/listen", {
			notifications: { resourceSubscriptions: ["test://a", "test://b"] },
		});
		equal(error.message, "Resource not found");
		resources.updated("test://a");
		equal(client.heard(), []);
	},
	async "subscriptions/listen that has ended makes room for others, and for calls"() {
		const { client, send, lastId, call } = statelessClient({ tools: [reporter] });
		for (let at = 0; at < 17; at += 1) {
			const heard = await send("subscriptions/listen", { notifications: { toolsListChanged: true } });
			const methods = heard.map(({ method }) => method);
			equal(methods, ["notifications/subscriptions/acknowledged"]);
			client.cancel(lastId());
			await settled();
		}
		equal((await call("t")).result.isError, false);
		equal([client.session.calls.length, client.server.sessions.size], [0, 1]);
	},
	async "each subscriptions/listen that ends makes room for one"() {
		const { client, ask, send, lastId } = statelessClient();
		const listen = { notifications: { toolsListChanged: true } };
		await send("subscriptions/listen", listen);
		client.cancel(lastId());
		await send("subscriptions/listen", listen);
		const { error } = await ask("subscriptions/listen", listen);
		equal(error.message, "Too many subscriptions/listen requests (limit 1)");
	},
	"only a request that stands alone has the methods of 2026-07-28": given(statelessClient, ({ client }) => {
		const [[answer]] = client.say('[{"jsonrpc":"2.0","id":1,"method":"server/discover"}]') as [Wire[]];
		equal(answer.error.code, -32601);
	}),
	async "a filter is acknowledged as far as the device has what it asks for"() {
		const asked = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
		const acknowledged = async (features: Feature<undefined>[], notifications: object) => {
			const [first] = await statelessClient({ features }).send("subscriptions/listen", { notifications });
			return first.params.notifications;
		};
		const [prompts, resources] = [new Prompts<undefined>([]), new Resources<undefined>([resource])];
		equal(await acknowledged([], { ...asked, resourceSubscriptions: ["test://a"] }), { toolsListChanged: true });
		equal(await acknowledged([prompts], asked), { toolsListChanged: true, promptsListChanged: true });
		equal(await acknowledged([resources], asked), { toolsListChanged: true, resourcesListChanged: true });
		equal(await acknowledged([prompts, resources], { resourcesListChanged: true }), { resourcesListChanged: true });
		const untrue = { toolsListChanged: "true", promptsListChanged: 1, resourcesListChanged: false };
		equal(await acknowledged([prompts, resources], untrue), {});
	},
	async "at most one subscriptions/listen is open, and a filter that nothing fits ends at once"() {
		const { ask, send, lastId, client } = statelessClient();
		const open = client.server.sessions.size;
		const [, ended] = await send("subscriptions/listen", { notifications: { promptsListChanged: true } });
		equal(ended.result, { resultType: "complete", _meta: { [SUBSCRIPTION_ID]: lastId() } });
		equal(client.server.sessions.size, open);
		const listen = { notifications: { toolsListChanged: true } };
		await send("subscriptions/listen", listen);
		equal((await ask("subscriptions/listen", listen)).error.code, -32000);
		equal((await ask("subscriptions/listen")).error.message, "Too many subscriptions/listen requests (limit 1)");
	},
	async "subscriptions/listen names what is wrong with its filter"() {
		const { ask } = statelessClient({ features: [new Resources<undefined>()] });
		equal((await ask("subscriptions/listen")).error.message, "notifications: expected an object");
		const listen = async (resourceSubscriptions: unknown) =>
			(await ask("subscriptions/listen", { notifications: { resourceSubscriptions } })).error.message;
		equal(await listen("a"), "notifications.resourceSubscriptions: expected an array of strings");
		equal(await listen(["test://b"]), "Resource not found");
	},
});
