import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { Connection } from "../../src/core/connection.js";
import { Discovery, type Listed } from "../../src/core/discovery.js";
import { ServerError } from "../../src/core/errors.js";
import { LISTS, type ListName } from "../../src/core/offers.js";

const unknown = new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");

/** A server that answers a request for a list with what is given: its items, or an error. */
function serverWith(lists: Partial<Record<ListName, unknown[] | Error | Promise<unknown[]>>>): Connection {
	const declared = new Set<string>(Object.keys(lists).map((list) => LISTS[list as ListName].capability));
	const connection: Pick<Connection, "isOpen" | "declares" | "identity" | "list" | "problemOf"> = {
		isOpen: true,
		identity: { id: "lamp", clientId: "lamp", transport: "test" },
		problemOf: () => undefined,
		declares: (capability) => declared.has(capability),
		list: async (list: ListName, signal?: AbortSignal) => {
			const answer = lists[list] ?? unknown;
			if (answer instanceof Error) {
				throw answer;
			}
			const aborted = new Promise<never>((_, reject) => {
				signal?.addEventListener("abort", () => reject(signal.reason));
			});
			return (await Promise.race([answer, aborted])) as never;
		},
	};
	return connection as Connection;
}

const ALL = Object.keys(LISTS) as ListName[];

describe("the lists of a server", () => {
	it("do not wait for one that is slow: it comes later", async (t) => {
		t.mock.timers.enable({ apis: ["setTimeout"] });
		let answer = (_items: unknown[]): void => {};
		const slow = new Promise<unknown[]>((resolve) => {
			answer = resolve;
		});
		const heard: Listed[] = [];
		const done = new Discovery({}, assert.fail).list(serverWith({ tools: [], resources: slow }), ALL, (listed) =>
			heard.push(listed),
		);
		await turn();
		t.mock.timers.tick(2_000);
		await turn();
		const offerss = heard.map(({ offers }) => offers);
		assert.deepEqual(offerss, [{ tools: [] }]);
		answer([{ uri: "a://b", name: "b" }]);
		await done;
		assert.deepEqual(heard[1]?.offers.resources, [{ uri: "a://b", name: "b" }]);
	});

	it("are not reported after the end of the connection", async () => {
		const failure = new ServerError("server-disconnected", "gone");
		const connection = { ...serverWith({ tools: failure }), isOpen: false } as Connection;
		await new Discovery({}, assert.fail).list(connection, ALL, () => assert.fail());
	});

	it("are checked once for devices with the same: their items are the same objects", async () => {
		const warnings: string[] = [];
		const discovery = new Discovery({}, (message) => warnings.push(message));
		const heard: Listed[] = [];
		for (const _ of [1, 2]) {
			const tools = [{ name: "a", inputSchema: {} }, { name: 1 }];
			await discovery.list(serverWith({ tools }), ["tools"], (listed) => heard.push(listed));
		}
		const [one, other] = heard.map(({ offers }) => offers.tools);
		assert.deepEqual(one, [{ name: "a", inputSchema: { type: "object" } }]);
		assert.equal(other, one);
		assert.equal(warnings.length, 2);
	});

	it("are read from 64 servers at the same time", async () => {
		const discovery = new Discovery({}, assert.fail);
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
		} as unknown as Connection;
		const read = Promise.all(Array.from({ length: 100 }, () => discovery.list(slow, ["tools"], () => {})));
		await turn();
		assert.equal(asked, 64);
		answer([]);
		await read;
		assert.equal(asked, 100);
	});
});
