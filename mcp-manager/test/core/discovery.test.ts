import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { Discovery } from "../../src/core/discovery.js";
import { LISTS, type ListName } from "../../src/core/offers.js";
import type { Session } from "../../src/core/session.js";

const unknown = new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");

/** A server that answers a request for a list with what is given: its items, or an error. */
function serverWith(lists: Partial<Record<ListName, unknown[] | Error>>): Session {
	const declared = new Set<string>(Object.keys(lists).map((list) => LISTS[list as ListName].capability));
	const session: Pick<Session, "declares" | "identity" | "list" | "problemOf"> = {
		identity: { id: "lamp", clientId: "lamp", transport: "test" },
		problemOf: () => undefined,
		declares: (capability) => declared.has(capability),
		list: async (list: ListName) => {
			const answer = lists[list] ?? unknown;
			if (answer instanceof Error) {
				throw answer;
			}
			return answer as never;
		},
	};
	return session as Session;
}

const ALL = Object.keys(LISTS) as ListName[];

describe("the lists of a server", () => {
	it("are empty where the server does not declare them", async () => {
		const discovery = new Discovery({ warn: assert.fail });
		const listed = await discovery.list(serverWith({ tools: [] }), ALL);
		assert.deepEqual(listed, { tools: [], resources: [], resourceTemplates: [], prompts: [] });
	});

	it("may lack templates: many servers with resources do not have the method", async () => {
		const resources = [{ uri: "a://b", name: "b" }];
		const discovery = new Discovery({ warn: assert.fail });
		const listed = await discovery.list(serverWith({ tools: [], resources }), ALL);
		assert.deepEqual([listed.resources, listed.resourceTemplates], [resources, []]);
	});

	it("must have the tools", async () => {
		const discovery = new Discovery({ warn: assert.fail });
		await assert.rejects(discovery.list(serverWith({}), ALL), unknown);
	});

	it("fail with what the server answers to one of them", async () => {
		const failure = new ProtocolError(ProtocolErrorCode.InternalError, "no room");
		const discovery = new Discovery({ warn: assert.fail });
		await assert.rejects(discovery.list(serverWith({ tools: [], resources: failure }), ALL), failure);
	});

	it("are checked once for devices with the same: their items are the same objects", async () => {
		const warnings: string[] = [];
		const discovery = new Discovery({ warn: (message) => warnings.push(message) });
		const read = () => {
			const tools = [{ name: "a", inputSchema: {} }, { name: 1 }];
			return discovery.list(serverWith({ tools }), ["tools"]);
		};
		const [one, other] = [await read(), await read()];
		assert.deepEqual(one.tools, [{ name: "a", inputSchema: { type: "object" } }]);
		assert.equal(other.tools, one.tools);
		assert.equal(warnings.length, 2);
	});

	it("are read from 64 servers at the same time", async () => {
		const discovery = new Discovery({ warn: assert.fail });
		let asked = 0;
		let answer = (_items: never[]): void => {};
		const answered = new Promise<never[]>((resolve) => {
			answer = resolve;
		});
		const slow = {
			...serverWith({}),
			list: () => {
				asked += 1;
				return answered;
			},
		} as unknown as Session;
		const read = Promise.all(Array.from({ length: 100 }, () => discovery.list(slow, ["tools"])));
		await turn();
		assert.equal(asked, 64);
		answer([]);
		await read;
		assert.equal(asked, 100);
	});
});
