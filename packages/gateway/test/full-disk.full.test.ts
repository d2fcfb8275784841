import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { addressesIn, FREE_PORTS, PROGRAM } from "../testing/command-line.js";
import { LAMP, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, sendJson, tokensIn } from "../testing/program.js";

const SIZE = 256 * 1_024;

/** Bytes that such a disk gives to a file at once. */
const PAGE = 4_096;

/** Arguments of `unshare`: a command that sees a small disk of its own at a folder, which is gone with it. */
function onSmallDisk(folder: string, command: readonly string[]): string[] {
	const mount = `mount -t tmpfs -o size=${SIZE} small "$0" && exec "$@"`;
	return ["--map-root-user", "--mount", "sh", "-c", mount, folder, ...command];
}

const isPossible = spawnSync("unshare", onSmallDisk(makeStateFolder(), ["true"]), { stdio: "ignore" }).status === 0;

/** A gateway whose state folder is on a small disk, and that folder as it sees it. */
async function startOnSmallDisk(t: TestContext) {
	const folder = makeStateFolder();
	const args = [PROGRAM, ...FREE_PORTS, "--no-announce", "--state-folder", folder];
	const child = spawn("unshare", onSmallDisk(folder, [process.execPath, ...args]));
	const closed = once(child, "close");
	t.after(async () => {
		child.kill("SIGKILL");
		await closed;
	});
	let log = "";
	child.stderr.on("data", (chunk) => {
		log += chunk;
	});
	await until(() => log.includes('"listening"'), "it runs");
	return { ...addressesIn(log), disk: `/proc/${child.pid}/root${folder}`, log: () => log };
}

/** Fills the disk to the last byte, with a file whose path it returns. */
function fill(disk: string): string {
	const path = join(disk, "filler");
	assert.throws(() => writeFileSync(path, Buffer.alloc(SIZE)), { code: "ENOSPC" });
	return path;
}

describe("a full disk", { skip: !isPossible && "this user cannot mount a small disk (unshare)" }, () => {
	it("changes nothing, is said with the cure, and loses nothing", async (t) => {
		const { base, deviceUrl, disk, log } = await startOnSmallDisk(t);
		await WireDevice.connectTo(t, deviceUrl, { id: LAMP });
		const aliases = async (): Promise<string[]> => {
			const { devices } = await (await fetch(`${base}/devices`)).json();
			return devices.map(({ alias }: { alias: string }) => alias);
		};
		const health = async () => (await (await fetch(`${base}/healthz`)).json()).status;
		const rename = (alias: string) => sendJson("PATCH", `${base}/devices/${encodeURIComponent(LAMP)}`, { alias });
		const addToken = () =>
			sendJson("POST", `${base}/tokens`, { name: "me", kind: "client", operator: true, yes: true });
		await until(async () => (await aliases()).length === 1, "the device is known");
		assert.equal((await rename("kitchen")).status, 200);
		const isStored = () => recordsOn(disk).some(([file]) => file?.includes("device/"));
		await until(isStored, "the device's record is stored");
		const before = recordsOn(disk);
		const filler = fill(disk);

		const refused = await rename("hall");
		assert.equal(refused.status, 503);
		assert.match((await refused.json()).error.message, /cannot be saved/);
		const noToken = await addToken();
		assert.equal(noToken.status, 503);
		assert.match((await noToken.json()).error.message, /cannot be saved/);
		assert.deepEqual(await aliases(), ["kitchen"], "who has no token is still let in");
		assert.equal(await health(), "degraded");
		assert.match(log(), /the state cannot be saved: .*ENOSPC/);
		assert.match(log(), /store.token.*cannot be written: the disk is full: free some space \(ENOSPC\)/);
		assert.deepEqual(recordsOn(disk), before);
		rmSync(filler);

		assert.equal((await rename("hall")).status, 200);
		// The audit log is written after the answer.
		await until(async () => (await health()) === "ok", "it is healthy again");
		assert.equal((await addToken()).status, 201);
		assert.equal((await rename("garden")).status, 401);
	});

	it("has a token exactly if its creation has succeeded, however little room there is", async (t) => {
		const { base, disk } = await startOnSmallDisk(t);
		const addToken = (name: string) => sendJson("POST", `${base}/tokens`, { name, kind: "device", yes: true });
		assert.equal((await addToken("first")).status, 201);
		const filler = fill(disk);
		const statuses: number[] = [];
		for (let pages = 0; pages < 8; pages += 1) {
			const { status } = await addToken(`late-${pages}`);
			statuses.push(status);
			const names = tokensIn(disk).records.map(({ name }) => name);
			assert.equal(names.includes(`late-${pages}`), status === 201, `${pages} pages: ${status}`);
			truncateSync(filler, statSync(filler).size - PAGE);
		}
		assert.deepEqual([statuses[0], statuses.at(-1)], [503, 201]);
	});
});

/** The files of records, and what they hold. */
function recordsOn(disk: string): readonly (readonly string[])[] {
	const files = readdirSync(disk, { recursive: true }).map(String).sort();
	return files.filter((file) => file.endsWith(".json")).map((file) => [file, readFileSync(join(disk, file), "utf8")]);
}
