import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { LocalServer } from "../host-test/support/local-server.js";
import { freePort, skipIf, temporaryFolder } from "../host-test/support/testing.js";

/** Where Debian puts the broker. */
const PROGRAM = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/opt/homebrew/sbin/mosquitto"].find(existsSync);

export const whyNoMosquitto = skipIf(PROGRAM === undefined && "mosquitto is not installed");

/** Debian's broker, with one user: maker, secret. */
export class Mosquitto extends LocalServer {
	static async start(test: TestContext): Promise<Mosquitto> {
		const folder = temporaryFolder("xs-mcp-mosquitto-");
		const port = await freePort();
		const [config, passwords] = [join(folder, "mosquitto.conf"), join(folder, "passwords")];
		execFileSync("mosquitto_passwd", ["-b", "-c", passwords, "maker", "secret"], { stdio: "ignore" });
		const user = process.getuid?.() === 0 ? "user root\n" : "";
		writeFileSync(config, `${user}listener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\n`);
		return await new Mosquitto(port, PROGRAM as string, config, "connect").runFor(test);
	}

	get url(): string {
		return `mqtt://127.0.0.1:${this.port}`;
	}
}
