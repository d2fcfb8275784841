import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ProtocolError } from "@modelcontextprotocol/client";
import { type LogLevel, SessionLog } from "../../src/core/session-log.js";

/** A log of a session, the levels that its server is asked for, and what each request hears. */
function open() {
	const levels: LogLevel[] = [];
	const log = new SessionLog((level) => levels.push(level));
	const begin = (id: number, logLevel?: LogLevel) => {
		const heard: unknown[] = [];
		let end = (_error?: Error): void => {};
		const answer = new Promise<void>((resolve, reject) => {
			end = (error) => (error === undefined ? resolve() : reject(error));
		});
		log.begin(id, { onLog: ({ data }) => heard.push(data), logLevel }, answer);
		const ended = async (error?: Error): Promise<void> => {
			end(error);
			await new Promise((resolve) => setImmediate(resolve));
		};
		return { heard, ended };
	};
	const say = (data: unknown, id?: number, level: string = "info"): void =>
		log.received({ level, data, ...(id !== undefined && { _meta: { "xs-mcp/requestId": id } }) });
	return { log, levels, begin, say };
}

describe("the log messages of a server", () => {
	it("are asked for down to the least severe level that anybody wants", () => {
		const { log, levels } = open();
		for (const level of [undefined, "warning", "error", "warning", "info", "notice", "debug"] as const) {
			log.want(level);
		}
		assert.deepEqual(levels, ["warning", "info", "debug"]);
	});

	it("go to the request that they name, or to the only one", async () => {
		const { begin, say } = open();
		const first = begin(1);
		say("alone");
		const second = begin(2);
		say("for the second", 2);
		say("for one of two");
		say("for another", 3);
		await second.ended();
		say("alone again");
		say("after its end", 2);
		assert.deepEqual([first.heard, second.heard], [["alone", "alone again"], ["for the second"]]);
	});

	it("reach a request only if they are as severe as it wants, and of a known level", () => {
		const { begin, say } = open();
		const { heard } = begin(1, "warning");
		for (const level of ["info", "notice", "warning", "error", "emergency", "loud"]) {
			say(level, 1, level);
		}
		assert.deepEqual(heard, ["warning", "error", "emergency"]);
	});

	it("say which logger they come from, if that is a text", () => {
		const { log } = open();
		const heard: unknown[] = [];
		log.begin(1, { onLog: (message) => heard.push(message) }, new Promise(() => {}));
		for (const logger of ["motor", undefined, 5]) {
			log.received({ level: "info", data: 1, logger });
		}
		assert.deepEqual(heard, [
			{ level: "info", data: 1, logger: "motor" },
			{ level: "info", data: 1 },
			{ level: "info", data: 1 },
		]);
	});

	it("are of no certain request after one that was not answered, and are after one that failed", async (t) => {
		const { begin, say } = open();
		await begin(1).ended(new ProtocolError(-32_602, "answered"));
		const { heard } = begin(2);
		say("certain");
		let now = performance.now();
		t.mock.method(performance, "now", () => now);
		await begin(3).ended(new Error("timeout"));
		now += 59_999;
		say("of 2 or of 3");
		say("named", 2);
		now += 1;
		say("certain a minute later");
		assert.deepEqual(heard, ["certain", "named", "certain a minute later"]);
	});
});
