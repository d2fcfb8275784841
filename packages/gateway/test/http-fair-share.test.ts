import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { victimFor } from "../src/http/fair-share.js";

const of = (holder: readonly string[], count: number, isIdle = false) =>
	Array.from({ length: count }, () => ({ holder, isIdle }));

describe("a gateway with the maximum number of sessions, all in use", () => {
	const greedy = ["local", "127.0.0.1", "greedy"];

	it("without tokens: an application with fewer than its share takes the place of the one with the most", () => {
		const sessions = [...of(["local", "127.0.0.1", "modest"], 2), ...of(greedy, 998)];
		assert.equal(victimFor(sessions, ["local", "127.0.0.1", "other"], 1_000)?.holder, greedy);
		assert.equal(victimFor(sessions, ["local", "127.0.0.1", "modest"], 1_000)?.holder, greedy);
		assert.equal(victimFor(sessions, greedy, 1_000), undefined, "it has had its share");
	});

	it("serves another address of the same token", () => {
		const sessions = of(["shared", "10.0.0.1", "a"], 1_000);
		assert.equal(victimFor(sessions, ["shared", "10.0.0.2", "a"], 1_000), sessions[0]);
	});

	it("looks at tokens first: many names do not make many shares", () => {
		const many = Array.from({ length: 997 }, (_, at) => of(["many", "10.0.0.1", `name ${at}`], 1)).flat();
		const quiet = of(["quiet", "10.0.0.2", "a"], 3);
		const victim = victimFor([...quiet, ...many], ["new", "10.0.0.3", "a"], 1_000);
		assert.equal(victim?.holder[0], "many");
		assert.equal(victimFor([...quiet, ...many], ["many", "10.0.0.1", "name"], 1_000)?.holder[0], "many");
	});

	it("ends the one of its own that was isIdle for longest first", () => {
		const sessions = [...of(greedy, 2), ...of(greedy, 1, true), ...of(greedy, 1)];
		assert.equal(victimFor(sessions, greedy, 4), sessions[2]);
	});
});
