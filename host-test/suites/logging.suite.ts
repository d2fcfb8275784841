import { Logging, log } from "../../src/mcp_server/features/logging.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { Client, clientWith, tool } from "../doubles/client.js";
import { equal, given, matches, suite } from "../harness.js";

function makeClient() {
	const clock = { now: 0 };
	let work: (call: ToolCall) => void = () => {};
	const worker = tool("work", (_args, _context, call) => {
		work(call);
		return true;
	});
	const features = [new Logging(() => clock.now)];
	const client = new Client<undefined>({ context: undefined, tools: [worker], features });
	const during = (doWork: (call: ToolCall) => void): unknown[] => {
		work = doWork;
		return client
			.say('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}}')
			.filter(({ method }) => method === "notifications/message")
			.map(({ params }) => params);
	};
	return { client, during, clock };
}

export default suite("logging", {
	"is a capability, and sends what a tool logs": given(makeClient, ({ client, during }) => {
		equal(client.initialize("2025-11-25").result.capabilities.logging, {});
		const messages = during((call) => log(call, "warning", { battery: 3 }, "power"));
		equal(messages, [{ level: "warning", logger: "power", data: { battery: 3 } }]);
	}),
	"sends nothing below the level that the client has chosen": given(makeClient, ({ client, during }) => {
		const logBoth = (call: ToolCall): void => {
			log(call, "debug", "small");
			log(call, "error", "big");
		};
		equal(during(logBoth), [{ level: "error", data: "big" }]);
		equal(client.ask("logging/setLevel", { level: "debug" }).result, {});
		equal(during(logBoth).length, 2);
		client.ask("logging/setLevel", { level: "emergency" });
		equal(during(logBoth), []);
	}),
	"names the levels there are, if another one is chosen"() {
		const { error } = makeClient().client.ask("logging/setLevel", { level: "loud" });
		equal(error.code, -32602);
		matches(error.message, /^level: expected one of debug, info, .*, emergency$/);
	},
	"sends at most so many messages a second, and tells how many were left out"() {
		const { during, clock } = makeClient();
		const logTwelve = (call: ToolCall): void => {
			for (let at = 0; at < 12; at += 1) {
				log(call, "info", at);
			}
		};
		const sent = Array.from({ length: 10 }, (_, at) => ({ level: "info", data: at }));
		equal(during(logTwelve), sent);
		clock.now = 999;
		equal(during(logTwelve), []);
		clock.now = 1_000;
		const later = during((call) => log(call, "info", "again"));
		equal(later, [
			{ level: "warning", data: "14 log messages dropped" },
			{ level: "info", data: "again" },
		]);
	},
	"goes on if the clock is set back"() {
		const { during, clock } = makeClient();
		clock.now = 1_000_000;
		during((call) => {
			for (let at = 0; at < 10; at += 1) {
				log(call, "info", at);
			}
		});
		clock.now = 5;
		const messages = during((call) => log(call, "info", 2));
		equal(messages, [{ level: "info", data: 2 }]);
	},
	"sends data of exactly as many characters as may be, and replaces longer ones"() {
		const data = "x".repeat(1_022);
		for (const [text, sent] of [
			[data, data],
			[`${data}x`, "1025 characters (limit 1024)"],
		]) {
			const messages = makeClient().during((call) => log(call, "info", text));
			equal(messages, [{ level: "info", data: sent }]);
		}
	},
	"does nothing on a server without the feature, or for a call that was cancelled"() {
		const client = clientWith(
			tool("work", (_args, _context, call) => {
				log(call, "alert", "unheard");
				return true;
			}),
		);
		equal(client.call("work").result.isError, false);
		equal(
			makeClient().during((call) => {
				call.cancel();
				log(call, "alert", "unheard");
			}),
			[],
		);
	},
});
