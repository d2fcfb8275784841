import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import type { TokenRecord } from "../src/config/access.js";
import type { FleetMessage, FleetView } from "../src/console/fleet-query.js";
import { makeStateFolder, type StartedProgram, sendJson, startProgram, tokensIn } from "./program.js";

function makeFiles(): string {
	const folder = join(makeStateFolder(), "console");
	mkdirSync(folder);
	writeFileSync(join(folder, "index.html"), "<title>page</title>");
	writeFileSync(join(folder, "console-ABC123.js"), "let it;");
	return folder;
}

export async function startWithConsole(
	t: TestContext,
	flags = {},
	stateFolder = makeStateFolder(),
): Promise<StartedProgram> {
	return await startProgram(t, flags, stateFolder, { consoleFolder: makeFiles() });
}

export async function startWithToken(t: TestContext, token: Partial<TokenRecord> = {}) {
	const stateFolder = makeStateFolder();
	const secret = await tokensIn(stateFolder).add({ name: "me", kind: "client", ...token });
	return { ...(await startWithConsole(t, {}, stateFolder)), secret };
}

export async function signIn({ base }: { readonly base: string }, token: string) {
	const response = await sendJson("POST", `${base}/console/session`, { token }, { Origin: base });
	assert.equal(response.status, 204);
	const cookie = response.headers.get("set-cookie") ?? "";
	return { set: cookie, headers: { Cookie: cookie.split(";")[0] as string, "Sec-Fetch-Site": "same-origin" } };
}

export const statusOf = async (url: string, init: RequestInit = {}): Promise<number> => {
	const { status, body } = await fetch(url, init);
	await body?.cancel();
	return status;
};

export const WHOLE_LIST: FleetView = { list: { search: "", filter: "all", tag: "", sort: "", offset: 0, count: 200 } };

export async function follow(
	t: TestContext,
	{ base }: { readonly base: string },
	headers: Record<string, string> = {},
	view = WHOLE_LIST,
) {
	const end = new AbortController();
	t.after(() => end.abort());
	const response = await fetch(`${base}/console/stream`, { headers, signal: end.signal });
	assert.equal(response.status, 200);
	const messages: FleetMessage[] = [];
	const look = async (next: FleetView): Promise<number> => {
		const path = `${base}/console/stream/${messages[0]?.stream}`;
		return (await sendJson("PUT", path, next, { Origin: base, ...headers })).status;
	};
	const stream = { messages, look, ended: false };
	const read = async (): Promise<void> => {
		let text = "";
		for await (const chunk of response.body ?? []) {
			text += Buffer.from(chunk).toString();
			const events = text.split("\n\n");
			text = events.pop() ?? "";
			messages.push(...events.filter((each) => each.startsWith("data: ")).map((each) => JSON.parse(each.slice(6))));
		}
	};
	void read()
		.catch(() => {})
		.then(() => {
			stream.ended = true;
		});
	await until(() => messages.length > 0, "the stream has begun");
	assert.equal(await look(view), 204);
	await until(() => messages.some(({ list, device }) => list ?? device !== undefined), "it shows what was asked for");
	return stream;
}

export const listIn = (messages: readonly FleetMessage[]) => messages.filter(({ list }) => list).at(-1)?.list;
export const detailIn = (messages: readonly FleetMessage[]) => messages.filter(({ device }) => device).at(-1)?.device;
