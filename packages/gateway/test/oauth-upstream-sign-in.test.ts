import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { run, start } from "../testing/command-line.js";
import { connectClient } from "../testing/gateway.js";
import { makeServersFile, makeStateFolder, startProgram } from "../testing/program.js";
import { Browser, type SignInGateway, startSignIn } from "../testing/sign-in.js";

/** A servers file that names the gateway's lamp as an upstream server, and a state folder. */
function configure({ base }: SignInGateway) {
	const stateFolder = makeStateFolder();
	const serversFile = makeServersFile({ house: { url: `${base}/mcp/lamp_000001` } }, stateFolder);
	return { stateFolder, serversFile, signIn: join(stateFolder, "sign-ins", "house.json") };
}

type Files = ReturnType<typeof configure>;

/** Runs the command, and is the person who approves it in a browser. */
async function login(t: TestContext, upstream: SignInGateway, { stateFolder, serversFile }: Files, answer = "go") {
	const { exited, output } = start(t, [
		...["servers", "login", "house", "--servers-file", serversFile, "--state-folder", stateFolder],
	]);
	const page = /^http\S+\/oauth\/authorize\?\S+$/m;
	await until(() => page.test(output.stderr), "the command shows the address");
	const [url = ""] = page.exec(output.stderr) ?? [];
	if (answer === "go") {
		const location = await new Browser(upstream.base).approve(url, upstream.operator);
		assert.equal((await fetch(`${location.origin}/callback?code=x&state=guessed`)).status, 404);
		assert.equal((await fetch(location)).status, 200);
	} else {
		const back = new URL(new URL(url).searchParams.get("redirect_uri") as string);
		const state = new URL(url).searchParams.get("state") as string;
		back.search = String(new URLSearchParams({ error: "access_denied", error_description: "not today", state }));
		await fetch(back);
	}
	return { code: await exited, ...output };
}

async function callVolume(t: TestContext, base: string) {
	const client = await connectClient(t, new URL(`${base}/mcp/house`), "2025-11-25");
	return await client.callTool({ name: "self_audio_speaker_set_volume", arguments: { volume: 5 } });
}

describe("an upstream server that uses OAuth", () => {
	it("says which command signs in, is usable after it, and refreshes the token that it rejects", async (t) => {
		const upstream = await startSignIn(t);
		const files = configure(upstream);
		const { stateFolder, serversFile, signIn } = files;
		const before = await startProgram(t, { serversFile }, makeStateFolder());
		await until(() => before.log().includes("servers login house"), "the reason names the command");
		assert.match(before.log(), /HTTP 401: .*To sign in: xs-mcp-gateway servers login house/);

		const { code, stdout, stderr } = await login(t, upstream, files);
		assert.equal(code, 0, stderr);
		assert.equal(stdout, "signed in at house\n");
		assert.equal(statSync(signIn).mode & 0o777, 0o600);
		assert.equal(statSync(join(stateFolder, "sign-ins")).mode & 0o777, 0o700);

		const gateway = await startProgram(t, { serversFile }, stateFolder);
		assert.notEqual((await callVolume(t, gateway.base)).isError, true);
		assert.deepEqual(upstream.device.calls.at(-1)?.arguments, { volume: 5 });

		const record = JSON.parse(readFileSync(signIn, "utf8"));
		const stale = { ...record, tokens: { ...record.tokens, access_token: "expired" } };
		writeFileSync(signIn, JSON.stringify(stale));
		const results = await Promise.all(Array.from({ length: 5 }, () => callVolume(t, gateway.base)));
		assert.ok(results.every(({ isError }) => isError !== true));
		const { tokens } = JSON.parse(readFileSync(signIn, "utf8"));
		assert.notEqual(tokens.access_token, "expired");
		assert.notEqual(tokens.refresh_token, record.tokens.refresh_token, "a refresh token works once");

		const loggedOut = await run(t, ["servers", "logout", "house", "--state-folder", stateFolder]);
		assert.equal(loggedOut.code, 0);
		assert.deepEqual(readdirSync(join(stateFolder, "sign-ins")), []);
		const refused = await callVolume(t, gateway.base);
		assert.match(JSON.stringify(refused), /To sign in: xs-mcp-gateway servers login house/);
	});

	it("keeps its former sign-in if a person rejects another one", async (t) => {
		const upstream = await startSignIn(t);
		const files = configure(upstream);
		await login(t, upstream, files);
		const before = readFileSync(files.signIn, "utf8");
		// Its token is good: the server would not ask again.
		await run(t, ["servers", "logout", "house", "--state-folder", files.stateFolder]);
		writeFileSync(files.signIn, before);
		const { code, stderr } = await login(t, upstream, files, "no");
		assert.equal(code, 1);
		assert.match(stderr, /not today/);
		assert.equal(readFileSync(files.signIn, "utf8"), before);
	});

	it("gets no token that was given for another URL", async (t) => {
		const upstream = await startSignIn(t);
		const files = configure(upstream);
		await login(t, upstream, files);
		const text = readFileSync(files.serversFile, "utf8").replace("lamp_000001", "lamp_000002");
		writeFileSync(files.serversFile, text);
		const gateway = await startProgram(t, { serversFile: files.serversFile }, files.stateFolder);
		await until(() => gateway.log().includes("To sign in"), "it is not signed in");
	});

	it("must be configured, and reached over HTTP", async (t) => {
		const folder = makeStateFolder();
		const file = makeServersFile({ local: { command: "true" } }, folder);
		const fail = async (...args: string[]) => {
			const { code, stderr } = await run(t, ["servers", "login", ...args, "--state-folder", folder]);
			return `${code} ${stderr}`;
		};
		assert.match(await fail("house"), /^2 .*missing --servers-file/);
		assert.match(await fail("house", "--servers-file", file), /^1 .*server house not found/);
		assert.match(await fail("local", "--servers-file", file), /^1 .*local: stdio: only over HTTP does a server/);
		assert.match(await fail("house", "--port", "0"), /^2 .*Expected a port/);
	});
});
