import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Discovery, Listed } from "../../src/core/discovery.js";
import { followOffers } from "../../src/core/follow-offers.js";
import { LIST_NAMES } from "../../src/core/offers.js";
import type { ServerInfo, Session } from "../../src/core/session.js";

const LISTED: Listed = { offers: { tools: [] }, failures: new Map() };

const FAILED: Listed = { offers: {}, failures: new Map([["tools", new Error("no room")]]) };

const BOARD = { name: "lamp", version: "1" };

/** A server that has not answered `initialize`, which lists it is asked for, and what is heard of it. */
function follow() {
	let answer = (_board: ServerInfo): void => {};
	const session = Object.assign(new EventEmitter(), {
		connected: true,
		initialize: () =>
			new Promise<ServerInfo>((resolve) => {
				answer = resolve;
			}),
	});
	const answers: Listed[] = [];
	const asked: unknown[] = [];
	const heard: unknown[] = [];
	const discovery = {
		list: async (_session: Session, lists: readonly string[], onListed: (listed: Listed) => void) => {
			asked.push(lists);
			onListed(answers.shift() ?? LISTED);
		},
	};
	void followOffers(session as unknown as Session, discovery as unknown as Discovery, {
		onBoard: (board) => heard.push(board),
		onListed: (board, listed) => heard.push([board, listed]),
		onFailed: (error) => heard.push(error),
	});
	const change = async (list: string): Promise<void> => {
		session.emit("notification", `notifications/${list}/list_changed`);
		await turn();
	};
	return { answers, session, initialized: () => answer(BOARD), change, asked, heard };
}

describe("the lists of a session", () => {
	it("are read once after the handshake, even if they change during it", async () => {
		const { initialized, change, asked, heard } = follow();
		await change("tools");
		assert.deepEqual(asked, []);
		initialized();
		await turn();
		assert.deepEqual([asked, heard], [[LIST_NAMES], [BOARD, [BOARD, LISTED]]]);
	});

	it("are read again when they change, until the session ends", async () => {
		const { session, initialized, change, asked } = follow();
		initialized();
		await change("anything");
		assert.equal(asked.length, 1);
		await change("resources");
		assert.deepEqual(asked.slice(1), [["resources", "resourceTemplates"]]);
		session.connected = false;
		await change("prompts");
		assert.equal(asked.length, 2);
	});

	it("have failed at first if none can be read; later one that fails is only reported", async () => {
		const first = follow();
		first.answers.push(FAILED);
		first.initialized();
		await turn();
		assert.deepEqual(first.heard, [BOARD, FAILED.failures.get("tools")]);
		const second = follow();
		second.answers.push(LISTED, FAILED);
		second.initialized();
		await turn();
		await second.change("tools");
		assert.deepEqual(second.heard.slice(1), [
			[BOARD, LISTED],
			[BOARD, FAILED],
		]);
	});
});
