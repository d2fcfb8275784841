import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../support/port.js";
import { skipIf } from "../support/skip-if.js";

/** Where Debian puts the broker. */
const PROGRAM = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/opt/homebrew/sbin/mosquitto"].find(existsSync);

/** Why there is no mosquitto to test with; false when there is. */
export const whyNoMosquitto = skipIf(PROGRAM === undefined && "mosquitto is not installed");

/** Debian's broker, with one user: maker, secret. */
export class Mosquitto {
	readonly port: number;
	readonly #config: string;
	#process: ChildProcess | undefined;

	private constructor(port: number, config: string) {
		this.port = port;
		this.#config = config;
	}

	static async start(test: TestContext): Promise<Mosquitto> {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-mosquitto-"));
		const port = await freePort();
		const [config, passwords] = [join(folder, "mosquitto.conf"), join(folder, "passwords")];
		execFileSync("mosquitto_passwd", ["-b", "-c", passwords, "maker", "secret"], { stdio: "ignore" });
		const user = process.getuid?.() === 0 ? "user root\n" : "";
		writeFileSync(config, `${user}listener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\n`);
		const broker = new Mosquitto(port, config);
		test.after(async () => {
			await broker.kill();
			rmSync(folder, { recursive: true });
		});
		await broker.run();
		return broker;
	}

	get url(): string {
		return `mqtt://127.0.0.1:${this.port}`;
	}

	/** Starts the broker, also again after it was killed. */
	async run(): Promise<void> {
		this.#process = spawn(PROGRAM as string, ["-c", this.#config], { stdio: "ignore" });
		while (!(await this.#answers())) {
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
	}

	async kill(): Promise<void> {
		const process = this.#process;
		this.#process = undefined;
		if (process !== undefined && process.exitCode === null) {
			const exited = new Promise((resolve) => process.once("exit", resolve));
			process.kill("SIGKILL");
			await exited;
		}
	}

	#answers(): Promise<boolean> {
		return new Promise((resolve) => {
			const socket = createConnection(this.port, "127.0.0.1");
			socket.once("connect", () => {
				socket.destroy();
				resolve(true);
			});
			socket.once("error", () => resolve(false));
		});
	}
}
