import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { whyMissing } from "../../../host-test/support/optional-program.js";
import { skipIf } from "../../../host-test/support/testing.js";
import { FREE_PORTS, PROGRAM } from "../testing/command-line.js";
import { makeStateFolder } from "../testing/program.js";

const FILE = fileURLToPath(new URL("../deploy/xs-mcp-gateway.service", import.meta.url));
const unit = readFileSync(FILE, "utf8");

function valuesOf(key: string): string[] {
	return [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value]) => value as string);
}

describe("the systemd unit of the gateway", () => {
	it("has a command line and settings with which the gateway runs", async (t) => {
		const [name = "", folder] = (valuesOf("Environment")[0] ?? "").split("=");
		// systemd makes this folder for the user.
		assert.equal(folder, `/var/lib/${valuesOf("StateDirectory")[0]}`);
		const [place, state] = [makeStateFolder(), makeStateFolder()];
		symlinkSync(PROGRAM, join(place, "xs-mcp-gateway"));
		const [command = "", ...args] = valuesOf("ExecStart")[0]?.split(" ") ?? [];
		const PATH = `${place}:${process.env.PATH}`;
		const child = spawn(command, [...args, ...FREE_PORTS], {
			cwd: place,
			env: { ...process.env, PATH, [name]: state },
		});
		t.after(() => child.kill("SIGKILL"));
		let log = "";
		for await (const chunk of child.stderr) {
			log += chunk;
			if (log.includes('"listening"')) {
				break;
			}
		}
		assert.match(log, new RegExp(`"stateFolder":"${state}"`));
		child.kill("SIGTERM");
		assert.deepEqual(await once(child, "exit"), [0, null]);
	});

	it("is accepted by systemd", { skip: skipIf(whyMissing("systemd-analyze", "systemd")) }, () => {
		execFileSync("systemd-analyze", ["verify", FILE]);
	});
});
